// The language of the page. English is what stands in the program; another language is one file, CODE.json, with the
// same texts by their English ones, loaded when a person has chosen it. wasm/page/strings.go says what stays English.
"use strict";
(() => {
  const remembered = () => { try { return localStorage.getItem("minilb-language") ?? ""; } catch { return ""; } };
  const version = document.currentScript.src ? new URL(document.currentScript.src).search : "";
  const root = document.documentElement, menu = document.getElementById("language");
  const known = [...menu.options].map((option) => option.value);
  const code = known.includes(remembered()) ? remembered() : "en";
  let table = null;

  // t is a text in the language, with its places filled by the parts of those names.
  const t = (english, parts = {}) => (table?.[english] ?? english).replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  // figure is a number with its unit as the language writes it: 2,5 s.
  const figure = (text) => (table ? text.replaceAll(".", t(".")).replaceAll("%", t("%")) : text);

  // translate goes through the texts inside an element.
  const translate = (element) => {
    if (!table) return;
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const key = node.data.trim();
      if (key && table[key]) node.data = node.data.replace(key, () => table[key]);
    }
    for (const name of ["aria-label", "title", "placeholder"]) {
      for (const e of element.querySelectorAll(`[${name}]`)) {
        const text = table[e.getAttribute(name)];
        if (text) e.setAttribute(name, text);
      }
    }
  };

  const parsed = new Promise((done) => { document.addEventListener("DOMContentLoaded", done, { once: true }); });
  const load = async () => {
    const inside = document.querySelector(`script[data-part="${code}.json"]`); // of the single-file page
    const text = inside ? inside.textContent : await (await fetch(`${code}.json${version}`)).text();
    await parsed; // the other scripts have put their texts into the page
    table = Object.assign({}, ...Object.values(JSON.parse(text)));
    root.lang = code;
    // The sentence of the first frame is an English one; a run replaces it.
    if (document.getElementById("main").dataset.state === "loading") document.getElementById("verdict").textContent = t("Playing the scenario…");
    translate(document.body);
    document.querySelector("#transcript ol").lang = document.getElementById("keys-why").lang = "en";
    return text;
  };

  menu.value = code;
  globalThis.minilbWords = {
    code, t, figure, translate,
    ready: code === "en" ? Promise.resolve("") : load().catch(() => ""), // without its file the page stays English
    choose: (other) => { try { localStorage.setItem("minilb-language", other); } catch { /* a private window forgets */ } },
  };
})();
