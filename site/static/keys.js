// Every key of the page, in one table: what it does, and the words of the list that ? shows. Single letters can be
// turned off; they never act while somebody types.
"use strict";
(() => {
  const dialog = document.getElementById("shortcuts"), box = document.getElementById("letters");
  const press = (selector) => { const e = document.querySelector(selector); if (e && !e.hidden && e.offsetParent) e.click(); };
  const policy = (n) => document.querySelectorAll("#shown input")[n]?.click();
  const focus = (selector) => { const e = document.querySelector(selector); e?.scrollIntoView({ block: "nearest" }); e?.focus(); };
  const table = [
    ["?", "this list", () => (dialog.open ? dialog.close() : dialog.showModal())],
    [" ", "play or pause", () => minilbTime.play(), "Space"],
    [".", "next event", () => minilbTime.next()],
    [",", "event before", () => minilbTime.before()],
    ["ArrowRight", "a hundredth of the run forward", () => minilbTime.step(1), "→"],
    ["ArrowLeft", "a hundredth of the run back", () => minilbTime.step(-1), "←"],
    ["Home", "start of the run", () => minilbTime.seek(0)],
    ["End", "end of the run", () => minilbTime.seek(Infinity)],
    ["+", "faster", () => minilbTime.faster(1)],
    ["-", "slower", () => minilbTime.faster(-1)],
    ["r", "restart", () => minilbTime.restart()],
    ["f", "fix: what the button beside the verdict says", () => press('[data-do="remedy"]')],
    ["1", "show the first policy; 2, 3 … the others", () => policy(0), "1–9"],
    ["c", "compare with round_robin", () => press('[data-do="compare"]')],
    ["k", "keep this run as a variant", () => press('[data-do="keep"]')],
    ["i", "intervals over seeds", () => press('[data-do="study"]')],
    ["a", "add a backend", () => press('[data-do="add"]')],
    ["s", "search the parameters", () => focus("#search")],
    ["g", "go to the controls", () => focus("#controls")],
    ["t", "go to the transcript", () => focus("#transcript ol")],
    ["p", "presentation, for a projector", () => document.querySelector('[data-share="present"]').click()],
    ["Escape", "stop the simulation", () => press("#stop"), "Esc"],
  ];

  const remembered = () => { try { return localStorage.getItem("minilb-letters") !== "off"; } catch { return true; } };
  box.checked = remembered();
  box.addEventListener("change", () => { try { localStorage.setItem("minilb-letters", box.checked ? "on" : "off"); } catch { /* a private window forgets */ } });

  const list = dialog.querySelector("dl");
  for (const [key, words, , name] of table) {
    const dt = document.createElement("dt"), dd = document.createElement("dd"), kbd = document.createElement("kbd");
    kbd.textContent = name ?? key;
    dt.append(kbd);
    dd.textContent = words;
    list.append(dt, dd);
  }
  document.addEventListener("click", ({ target }) => {
    if (target.closest('[data-keys="open"]')) dialog.showModal();
    if (target.closest('[data-keys="close"]') || target === dialog) dialog.close();
  });

  // own says whether an element wants a key for itself.
  const own = (e, key) => {
    const kind = e.tagName === "INPUT" ? e.type : e.tagName.toLowerCase();
    if (["text", "search", "select", "textarea", "number"].includes(kind)) return key !== "Escape";
    if (kind === "range") return key.startsWith("Arrow") || key === "Home" || key === "End" || key === "+" || key === "-";
    if (kind === "radio") return key.startsWith("Arrow") || key === " ";
    if (["button", "summary", "checkbox", "a"].includes(kind)) return key === " " || key === "Enter" || (e.closest("#keys-grid") && /^(Arrow|Home|End)/.test(key));
    return e.scrollHeight > e.clientHeight + 1 && e.tabIndex >= 0 && /^(Arrow|Home|End| )/.test(key) && e !== document.body;
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || own(e.target, e.key)) return;
    if (document.querySelector("dialog[open]") && !(dialog.open && e.key === "?")) return;
    const digit = /^[1-9]$/.test(e.key);
    const found = table.find(([key]) => key === e.key);
    if (!found && !digit) return;
    if (e.key.length === 1 && e.key !== " " && !box.checked) return;
    if (e.key !== "Escape") e.preventDefault();
    if (digit) policy(Number(e.key) - 1);
    else found[2]();
  });
})();
