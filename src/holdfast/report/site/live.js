// Following a state: batches that arrive are shown where the reader is.
"use strict";

/** Listen to the server, for as long as the page is open. */
function follow() {
  const seen = page.doc.batches.reduce((last, batch) => Math.max(last, batch.seq), 0);
  const events = new EventSource(`api/events?since=${seen}`); // batches since the document was read are sent at once
  let lost = false;
  events.addEventListener("open", () => {
    if (lost) refresh();
    lost = false;
  });
  events.addEventListener("batch", refresh);
  events.addEventListener("error", () => {
    lost = true;
    tell("The connection is lost, so this page may be out of date. The page tries again.");
  });
}

let refreshing = null; // the work under way, if there is any
let outdated = false; // news came meanwhile

/** Take the document again, one at a time; news that come meanwhile are looked at afterwards. */
function refresh() {
  outdated = true;
  refreshing ??= (async () => {
    while (outdated) {
      outdated = false;
      await takeAgain();
    }
    refreshing = null;
  })();
}

/** Show the newest document, and stay where the reader is. */
async function takeAgain() {
  const before = page.doc;
  try {
    page.doc = new Doc(await fetched("api/document"));
  } catch (error) {
    tell(`The newest state can't be read: ${error.message}.`);
    return;
  }
  const place = whereReaderIs();
  show(true);
  returnTo(place);
  showAbout();
  page.doc.index.buildLater();
  tell(...arrived(before, page.doc));
}

/** What arrived since, in a sentence. */
function arrived(before, now) {
  const fresh = now.batches.filter((batch) => !before.batchAt.has(batch.seq));
  if (!fresh.length) return ["Connected: this page is up to date."];
  const sum = (event) => fresh.reduce((total, batch) => total + (batch[event] ?? 0), 0);
  const last = fresh.reduce((newest, batch) => (batch.seq > newest.seq ? batch : newest));
  const which = link(entryAddress(last), capitalized(entryName(last)));
  const earlier = fresh.length > 1 ? ` and ${number(fresh.length - 1)} before it` : "";
  const did = EVENTS.filter(([event]) => sum(event)).map(
    ([event, , words]) => `${counted(sum(event), "rule")} ${words}`,
  );
  return [which, `${earlier} arrived: ${did.join(", ") || "no rule broke"}.`];
}

function whereReaderIs() {
  const { activeElement: focused } = document;
  const open = [...document.querySelectorAll("main details[open] > summary")].map((summary) => summary.textContent);
  return {
    y: window.scrollY,
    id: focused?.id,
    href: focused?.getAttribute?.("href"),
    heading: focused?.tagName === "H1",
    open,
  };
}

function returnTo({ y, id, href, heading, open }) {
  for (const summary of document.querySelectorAll("main details > summary")) {
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
  }
  if (heading) focusHeading();
  else if (href)
    [...document.querySelectorAll("main a")]
      .find((each) => each.getAttribute("href") === href)
      ?.focus({ preventScroll: true });
  else if (id) byId(id)?.focus({ preventScroll: true });
  window.scrollTo(0, y);
}
