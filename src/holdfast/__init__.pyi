# What users call, what they get, and what they may hand over: `__init__.py` imports each when it is first used.

from holdfast.advice.advice import Advice as Advice
from holdfast.alerts.notifier import Notifier as Notifier
from holdfast.alerts.notifier import notify as notify
from holdfast.api.agree_sets import agree_sets as agree_sets
from holdfast.api.checks import check as check
from holdfast.api.checks import orders as orders
from holdfast.api.discovery import discover as discover
from holdfast.api.monitor import Monitor as Monitor
from holdfast.api.suggestions import suggest as suggest
from holdfast.api.verification import verify as verify
from holdfast.api.view import View as View
from holdfast.engines.listing import Listing as Listing
from holdfast.engines.order.list_first import Ordered as Ordered
from holdfast.errors import BadInput as BadInput
from holdfast.errors import HoldfastError as HoldfastError
from holdfast.intake.source import ReadOptions as ReadOptions
from holdfast.ranking.suggestion import Doubt as Doubt
from holdfast.ranking.suggestion import Same as Same
from holdfast.ranking.suggestion import Suggestion as Suggestion
from holdfast.report.notebook import html_of as html_of
from holdfast.report.references import svg_of as svg_of
from holdfast.results.agree_sets import AgreeSet as AgreeSet
from holdfast.results.agree_sets import AgreeSetChange as AgreeSetChange
from holdfast.results.agree_sets import AgreeSets as AgreeSets
from holdfast.results.changed import Changed as Changed
from holdfast.results.checked import Checked as Checked
from holdfast.results.checked import Listings as Listings
from holdfast.results.column import ColumnProfile as ColumnProfile
from holdfast.results.explanation import Explanation as Explanation
from holdfast.results.found import Found as Found
from holdfast.results.history import RuleHistory as RuleHistory
from holdfast.results.marked_rules import MarkedRules as MarkedRules
from holdfast.results.memory import ColumnFigures as ColumnFigures
from holdfast.results.memory import Event as Event
from holdfast.results.memory import Figures as Figures
from holdfast.results.memory import Memory as Memory
from holdfast.results.memory import StoredWitness as StoredWitness
from holdfast.results.outcome import Outcome as Outcome
from holdfast.results.rows import Row as Row
from holdfast.results.suggestions import Suggestions as Suggestions
from holdfast.results.upkeep import Vacuumed as Vacuumed
from holdfast.results.upkeep import Verified as Verified
from holdfast.sources.dialect import CsvOptions as CsvOptions
from holdfast.store.backup import Backup as Backup
from holdfast.store.backup import backup as backup
from holdfast.store.records import BatchRecord as BatchRecord

__version__: str
__all__: list[str]
