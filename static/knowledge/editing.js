// Editors that lose nothing: what is typed is kept in the browser until the server has it. And todos that are dragged.
"use strict";
{
  const on = (type, listener) => document.addEventListener(type, listener);
  const nameOf = (key) => `openchamber:edit:${key}`;
  const forget = (key) => localStorage.removeItem(nameOf(key));
  const fieldOf = (form) => form?.querySelector?.("[data-keep]");
  const timers = new WeakMap();
  const sent = new WeakMap();
  const found = new WeakSet();

  function say(form, state) {
    const mark = form.hasAttribute("data-autosave") && document.getElementById("saved");
    if (!mark) return;
    mark.dataset.state = { failed: "failed", conflict: "failed", saving: "working" }[state] ?? "owed";
    mark.querySelector("span").textContent = mark.dataset[state];
  }

  function saveIn(form, milliseconds) {
    clearTimeout(timers.get(form));
    timers.set(form, setTimeout(() => form.isConnected && !sent.has(form) && form.requestSubmit(), milliseconds));
  }

  function typed(field) {
    const { form } = field;
    localStorage.setItem(nameOf(field.dataset.keep), JSON.stringify({ text: field.value, seen: form.elements.seen.value }));
    say(form, "unsaved");
    if (form.hasAttribute("data-autosave")) saveIn(form, 800);
  }

  // What was typed before a reload, a crash or a closed tab comes back with the revision that it was made from.
  function comeBack() {
    document.querySelectorAll("[data-keep]").forEach((field) => {
      if (found.has(field)) return;
      found.add(field);
      const kept = JSON.parse(localStorage.getItem(nameOf(field.dataset.keep)) ?? "null");
      if (!kept) return;
      if (kept.text === field.value) return forget(field.dataset.keep);
      field.value = kept.text;
      field.form.elements.seen.value = kept.seen;
      field.form.querySelector("[data-kept]")?.removeAttribute("hidden");
      typed(field);
    });
  }

  on("input", (event) => event.target.matches("[data-keep]") && typed(event.target));

  on("htmx:before:request", (event) => {
    const { sourceElement, target } = event.detail.ctx;
    // Lists do not follow while an editor or a conflict is open in them, an editor not while it holds unsaved text.
    const open = sourceElement.matches("[data-live]") && target?.querySelector?.("[data-keep], .conflict");
    const field = sourceElement.matches("[data-follows]") && fieldOf(target);
    if (open || (field && field.value !== field.defaultValue)) return event.preventDefault();
    const own = sourceElement.matches("form") && fieldOf(sourceElement);
    if (!own) return;
    sent.set(sourceElement, own.value);
    say(sourceElement, "saving");
  });

  on("htmx:after:request", ({ detail: { ctx: { sourceElement: form, response } } }) => {
    const field = fieldOf(form);
    if (!field || !sent.has(form)) return;
    if (response.status < 300 && field.value === sent.get(form)) forget(field.dataset.keep);
    const refused = { 409: "conflict", 422: "unsaved" }[response.status];
    if (refused) say(form, refused); // now: where a conflict takes the form's place, nothing more is heard of it
  });

  on("htmx:finally:request", (event) => {
    const { sourceElement: form, response } = event.detail.ctx;
    const field = fieldOf(form);
    if (!field || !sent.has(form)) return;
    const text = sent.get(form);
    sent.delete(form);
    if ([409, 422].includes(response?.status)) return;
    if (!response || response.status >= 400) {
      say(form, "failed");
      if (form.hasAttribute("data-autosave")) saveIn(form, 5000);
    } else if (field.value !== text) typed(field);
    else field.defaultValue = text;
  });

  // Saving by hand, leaving by Escape where nothing was typed, and choosing to let a kept text go.
  on("keydown", (event) => {
    const field = event.target.closest("[data-keep]");
    if (!field) return;
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      field.form.requestSubmit();
    } else if (event.key === "Escape" && field.value === field.defaultValue) field.form.querySelector("[data-cancel]")?.click();
  });
  on("click", (event) => {
    const key = event.target.closest("[data-forget]")?.dataset.forget;
    if (key) forget(key);
  });

  // A conflict is taller than the editor whose place it takes: one begins with its first line.
  on("htmx:after:swap", () => document.activeElement?.closest(".conflict > h2")?.scrollIntoView());
  on("htmx:after:swap", comeBack);
  comeBack();

  // A hit of the search opens at what was found.
  document.querySelectorAll("[data-found]").forEach((field) => {
    field.setSelectionRange(...field.dataset.found.split(" "));
    field.focus();
  });

  // Arranging by dragging: the row's own button says where it shall stand.
  let [dragged, before] = [null, null];
  const rowAt = (event) => event.target.closest?.("[data-arrange] > [data-key]");

  on("dragstart", (event) => {
    dragged = rowAt(event);
    if (!dragged) return;
    before = dragged.nextElementSibling;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setDragImage(dragged, 12, 12);
  });
  on("dragover", (event) => {
    const row = rowAt(event);
    if (!dragged || row?.parentElement !== dragged.parentElement) return;
    event.preventDefault();
    const { top, height } = row.getBoundingClientRect();
    if (row !== dragged) row.parentElement.insertBefore(dragged, event.clientY < top + height / 2 ? row : row.nextElementSibling);
  });
  on("drop", (event) => dragged && event.preventDefault());
  on("dragend", (event) => {
    if (!dragged) return;
    const { parentElement: list, nextElementSibling: next } = dragged;
    const button = dragged.querySelector("[data-move]");
    if (event.dataTransfer.dropEffect === "none") list.insertBefore(dragged, before);
    else if (next !== before) {
      button.value = next ? next.dataset.key : list.dataset.rest ?? "";
      button.click();
    }
    dragged = null;
  });

  // Files are imported one after the other, so that progress can be told and a bad one holds nothing up.
  let queue = [];
  function importNext(form) {
    const bar = form.querySelector("progress");
    bar.hidden = queue.length === 0;
    bar.value = bar.max - queue.length;
    if (!queue.length) return form.reset();
    const one = new DataTransfer();
    one.items.add(queue.shift());
    form.elements.files.files = one.files;
    form.requestSubmit();
  }
  function importAll(files) {
    const form = document.querySelector("[data-import]");
    queue = [...files];
    form.querySelector("progress").max = queue.length;
    importNext(form);
  }
  on("change", (event) => event.target.closest("[data-import]") && importAll(event.target.files));
  on("htmx:finally:request", ({ detail: { ctx } }) => ctx.sourceElement.matches("[data-import]") && importNext(ctx.sourceElement));
  const droppable = (event) => event.target.closest?.("[data-drop]") && event.dataTransfer.types.includes("Files");
  on("dragover", (event) => droppable(event) && event.preventDefault());
  on("drop", (event) => {
    if (!droppable(event)) return;
    event.preventDefault();
    importAll(event.dataTransfer.files);
  });
}
