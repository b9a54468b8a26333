// Keeps a page current: when something has happened, the page is asked for again, and its parts marked
// `data-live` take the place of the old ones. All drawing is done by the server.
"use strict";

const PAUSE = 700;
const state = document.getElementById("live");
const parts = () => document.querySelectorAll("[data-live]");
let waiting = null;
let asking = false;
let again = false;

function say(text, kind) {
  state.textContent = text;
  state.className = kind;
}

// What has the focus, in words that hold in the new part, too.
function focused(part) {
  const element = document.activeElement;
  if (!element || !part.contains(element)) return null;
  if (element.id) return "#" + CSS.escape(element.id);
  const href = element.getAttribute("href");
  if (href) return `[href="${CSS.escape(href)}"]`;
  return element.classList.contains("scroll") ? ".scroll" : null;
}

function replace(part, fresh) {
  const focus = focused(part);
  part.replaceChildren(...fresh.childNodes);
  if (focus) part.querySelector(focus)?.focus({ preventScroll: true });
}

async function refresh() {
  waiting = null;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of parts()) {
        const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
        if (fresh) replace(part, fresh);
      }
    }
  } catch {
    // The stream says when the server is there again.
  }
  asking = false;
  if (again) {
    again = false;
    news();
  }
}

function news() {
  if (waiting === null) waiting = setTimeout(refresh, PAUSE);
}

function listen(address) {
  const stream = new EventSource(address);
  stream.onopen = () => say("live", "on");
  stream.onerror = () => say("not connected", "off");
  const names = ["reading", "started", "compacted", "asked", "idle", "ended", "died", "saved", "run"];
  for (const name of [...names, "missed"]) stream.addEventListener(name, news);
  addEventListener("pagehide", () => stream.close());
}

if (parts().length > 0) listen(document.currentScript.dataset.events);
