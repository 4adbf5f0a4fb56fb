// The panel's scripts: listeners on `document`, hooked by data-* attributes. Every act also works without them.
"use strict";

const TYPING = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";
const on = (type, listener, options) => document.addEventListener(type, listener, options);
const each = (selector, act) => document.querySelectorAll(selector).forEach(act);

// Toasts: `{level, text, undo?}`; `undo` is the address that takes the act back. Errors stay until dismissed.
function toast({ level, text, undo }) {
  const notice = document.getElementById("toast").content.cloneNode(true).firstElementChild;
  const form = notice.querySelector("form");
  notice.dataset.level = level;
  notice.querySelector("p").textContent = text;
  form.hidden = !undo;
  for (const name of undo ? ["action", "hx-post"] : []) form.setAttribute(name, undo);
  document.getElementById("toasts").append(notice);
  htmx.process(notice);
  fade(notice);
}

function fade(notice) {
  if (notice.dataset.level === "error") return;
  const leave = () => (notice.matches(":hover, :focus-within") ? setTimeout(leave, 3000) : notice.remove());
  setTimeout(leave, 9000);
}

on("toast", (event) => event.detail.notices.forEach(toast));
on("click", (event) => event.target.closest("[data-dismiss]")?.closest(".toast")?.remove());
on("htmx:finally:request", (event) => event.detail.ctx.sourceElement.closest?.(".toast")?.remove());

// Optimistic acts: the browser shows the wish at once; what the server refuses goes back to its last word.
function flip(button) {
  if (button?.matches?.("[data-optimistic][aria-pressed]"))
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
}

function failed(event) {
  const { ctx } = event.detail;
  const source = ctx?.sourceElement;
  flip(source);
  source?.closest?.("form[data-optimistic]")?.reset();
  // A poll that fails is no act of the user's; the next one asks again.
  if (source?.matches?.("[data-quiet]") || ctx?.hx?.trigger?.includes("toast")) return;
  const status = ctx?.response?.status; // what the act's own place says needs no second notice
  if ([409, 422].includes(status) || source?.hasAttribute?.(`hx-status:${status}`)) return;
  const words = document.getElementById("toasts").dataset;
  toast({ level: "error", text: status ? words.failed : words.offline });
}

on("htmx:response:error", failed);
on("htmx:error", failed);

// What follows changes by itself waits while someone types in it. A look that waited for the one before it asks from
// what that one showed, or rows would be put in twice.
on("htmx:before:request", (event) => {
  const { sourceElement, target, request } = event.detail.ctx;
  if (!sourceElement.matches("[data-live]")) return flip(sourceElement);
  request.action = sourceElement.getAttribute("hx-get") || request.action;
  const typing = document.activeElement?.closest(TYPING);
  if (typing && target?.contains?.(typing)) event.preventDefault();
});

// Asking first: the button says what will happen.
on("htmx:confirm", (event) => {
  const { ctx, issueRequest, dropRequest } = event.detail;
  if (!ctx.confirm) return;
  event.preventDefault();
  const dialog = document.getElementById("confirm");
  const yes = dialog.querySelector(".primary");
  const source = ctx.sourceElement;
  dialog.querySelector("p").textContent = ctx.confirm;
  yes.textContent = source.dataset.confirmAct || source.querySelector("button")?.textContent.trim() || yes.dataset.default;
  dialog.returnValue = "";
  dialog.addEventListener("close", () => (dialog.returnValue ? issueRequest() : dropRequest()), { once: true });
  dialog.showModal();
});

// Keys: an element says by data-shortcut which one works it; j and k go through [data-item].
function step(by) {
  const items = [...document.querySelectorAll("[data-item]")];
  const here = items.findIndex((item) => item.contains(document.activeElement));
  const next = items[here === -1 ? (by > 0 ? 0 : items.length - 1) : here + by];
  (next?.matches("a, button") ? next : next?.querySelector("a, button") ?? next)?.focus();
}

on("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("[data-submit]")) {
    event.preventDefault();
    return event.target.form.requestSubmit();
  }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPING)) return;
  if (document.querySelector("dialog:modal")) return;
  if (event.key === "j" || event.key === "k") return step(event.key === "j" ? 1 : -1);
  // What stands in the focused item goes before what stands elsewhere.
  const key = `[data-shortcut="${CSS.escape(event.key)}"]`;
  const inside = document.activeElement?.closest("[data-item]")?.querySelector(key);
  const element = inside ?? [...document.querySelectorAll(key)].find((found) => !found.closest("[data-item]") || found.checkVisibility());
  if (!element) return;
  event.preventDefault();
  element[element.matches(TYPING) ? "focus" : "click"]();
});

on("beforetoggle", (event) => {
  const list = event.target.querySelector?.("[data-keys]");
  if (!list || event.newState !== "open") return;
  const keys = new Map([["j k", list.dataset.keys]]);
  each("[data-shortcut]", (element) => {
    const words = element.dataset.shortcutName || element.getAttribute("aria-label") || element.title || element.textContent;
    if (!keys.has(element.dataset.shortcut)) keys.set(element.dataset.shortcut, words.replace(/\s*\(.\)$/, "").trim());
  });
  list.replaceChildren();
  for (const [key, words] of keys) {
    const [term, description] = [document.createElement("dt"), document.createElement("dd")];
    term.append(Object.assign(document.createElement("kbd"), { textContent: key }));
    description.textContent = words;
    list.append(term, description);
  }
}, true);

// Copy what stands in the same figure.
on("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  const code = button?.closest("figure")?.querySelector("code");
  if (!code) return;
  // Only https and loopback have a clipboard; elsewhere the text is at least selected.
  if (!navigator.clipboard) return getSelection().selectAllChildren(code);
  await navigator.clipboard.writeText(code.textContent);
  const words = button.querySelector("span");
  const before = words.textContent;
  words.textContent = document.body.dataset.copied;
  setTimeout(() => (words.textContent = before), 2000);
});

// A link that keeps a message keeps what was selected of it; opening the menu takes the selection away.
let selected = {};
on("selectionchange", () => {
  const [selection, text] = [getSelection(), String(getSelection()).trim()];
  if (text) selected = { text, message: selection.anchorNode.parentElement?.closest(".message")?.id };
});
on("pointerdown", (event) => event.target.closest(".prose") && (selected = {}));
on("click", (event) => {
  const link = event.target.closest('a[href*="/keep/"]');
  if (link && selected.message && link.href.includes(selected.message.replace("message-", "/messages/")))
    link.search += `&text=${encodeURIComponent(selected.text.slice(0, 4000))}`;
});

// A link to a place on this page closes the drawer that it stands in, and so does an act in a menu.
on("click", (event) => {
  const link = event.target.closest("[data-jump]");
  const place = link && document.getElementById(link.dataset.jump);
  if (place) {
    event.preventDefault();
    place.scrollIntoView({ block: "center" });
    place.setAttribute("tabindex", "-1");
    place.focus({ preventScroll: true });
  }
  if (place || event.target.closest('a[href^="#"], .menu button')) event.target.closest(":popover-open")?.hidePopover();
});

// Drafts: typed text outlives reloads and closed tabs until the server has taken it.
const draftOf = (field) => `openchamber:draft:${field.dataset.draft}`;
const drafts = (root = document) => root.querySelectorAll("[data-draft]");

function restoreDrafts() {
  drafts().forEach((field) => (field.value ||= localStorage.getItem(draftOf(field)) ?? ""));
}

function keep(field) {
  if (field.value) localStorage.setItem(draftOf(field), field.value);
  else localStorage.removeItem(draftOf(field));
}

on("input", (event) => event.target.dataset?.draft && keep(event.target));

// Only what was sent is taken out: one may have typed on while it was on its way.
const sent = new WeakMap();

on("htmx:before:request", (event) => {
  const form = event.detail.ctx.sourceElement.closest("form");
  if (form) drafts(form).forEach((field) => sent.set(field, field.value));
});

on("htmx:after:request", (event) => {
  const { sourceElement, response } = event.detail.ctx;
  const form = sourceElement.closest("form");
  if (!form || response.status >= 400) return;
  drafts(form).forEach((field) => {
    const taken = sent.get(field) ?? "";
    field.value = field.value.startsWith(taken) ? field.value.slice(taken.length).trimStart() : field.value;
    keep(field);
  });
});

// How much was typed, of how much there is room for.
on("input", (event) => {
  const { count } = event.target.dataset;
  const counter = count && event.target.form?.querySelector("[data-counter]");
  const number = (value) => value.toLocaleString(document.documentElement.lang);
  if (counter) counter.textContent = `${number([...event.target.value].length)} / ${number(Number(count))}`;
});

// Times in the reader's own zone and manner, as far as that is the page's language.
function localise() {
  const { lang } = document.documentElement;
  const manner = navigator.languages.find((one) => one.split("-")[0] === lang) ?? lang;
  const [clock, day] = [{ hour: "2-digit", minute: "2-digit" }, { day: "numeric", month: "short" }];
  each("time[datetime]", (element) => {
    const at = new Date(element.dateTime);
    const today = at.toDateString() === new Date().toDateString();
    element.textContent = today ? at.toLocaleTimeString(manner, clock) : at.toLocaleDateString(manner, day);
    element.title = at.toLocaleString(manner);
  });
}

// What was unfolded or folded stays so, also when its row moves or is drawn anew.
const folds = new Map();

on("toggle", ({ target }) => target.matches("details[id]") && folds.set(target.id, target.open), true);
const unfold = () => folds.forEach((open, id) => document.getElementById(id)?.toggleAttribute("open", open));

// Whoever reads the end of a conversation stays at its end; whoever reads above is left in peace, but told of news.
const atEnd = new WeakMap();

function follow(anyway, news) {
  each("[data-follow]", (box) => {
    if (anyway) atEnd.set(box, true);
    if (atEnd.get(box) !== false) box.scrollTop = box.scrollHeight;
    else if (news) box.dataset.news = "";
  });
}

on("htmx:before:request", ({ detail: { ctx } }) => ctx.sourceElement.matches("[data-says]") && follow(true));

// What is put in on top must not push away what is being read.
let below = null;

on("htmx:before:swap", (event) => {
  const box = event.detail.ctx.sourceElement.closest?.("[data-prepend]")?.closest("[data-follow]");
  below = box && { box, rest: box.scrollHeight - box.scrollTop };
});

on("scroll", ({ target: box }) => {
  if (!box.matches?.("[data-follow]")) return;
  atEnd.set(box, box.scrollHeight - box.scrollTop - box.clientHeight < 48);
  if (atEnd.get(box)) delete box.dataset.news;
}, true);

// A menu that was fetched opens beside what asked for it.
on("htmx:after:swap", ({ detail: { ctx } }) => {
  if (ctx.sourceElement.matches?.("[data-menu]")) document.getElementById("message-menu")?.showPopover({ source: ctx.sourceElement });
});

// The row of what is open in a drawer is marked.
const point = () => each(".entry", (row) => row.setAttribute("aria-current", row.id === document.querySelector(".drawer[open]")?.dataset.row));
["close", "htmx:after:swap"].forEach((type) => on(type, point, true));

// Who sent something goes on writing.
on("htmx:after:swap", ({ detail: { ctx } }) => document.getElementById(ctx.sourceElement.dataset?.focus)?.focus());

on("htmx:after:swap", ({ detail: { ctx } }) => {
  localise();
  restoreDrafts();
  unfold();
  if (below) {
    below.box.scrollTop = below.box.scrollHeight - below.rest;
    if (document.activeElement === document.body) below.box.focus({ preventScroll: true });
  } else follow(false, ctx.sourceElement.matches?.("[data-follow] [data-live]"));
  below = null;
});

localise();
restoreDrafts();
if (!location.hash) follow(true);
each("#toasts > .toast", fade);
