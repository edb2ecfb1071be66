// What leaves the page and what comes in by hand: charts as PNG and SVG, files, the QR code, files that are dropped.
// The texts and the scenario come from Go; loaded before charts.js so that it knows every chart by its figure.
"use strict";
(() => {
  const charts = new Map(); // figure -> uPlot
  const Plot = uPlot;
  globalThis.uPlot = class extends Plot {
    constructor(options, data, box) {
      const plot = super(options, data, box);
      charts.set(plot.root.closest("figure"), plot);
      return plot;
    }
  };

  const save = (name, content, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };

  const style = (element, name) => getComputedStyle(element).getPropertyValue(name).trim();
  const page = (name) => style(document.documentElement, name);
  const titleOf = (figure) => figure.querySelector("h2, h3").textContent;
  const dashes = { dotted: [2, 3], dashed: [6, 3], double: [9, 2, 2, 2], solid: [] };
  // entries are a chart's series as its legend shows them: a name, a colour, and whether it is hatched or a line.
  const entries = (figure) => [...figure.querySelectorAll(".legend li")].map((item) => {
    const swatch = item.querySelector(".swatch"), mark = style(swatch, "--mark");
    const value = item.querySelector("output")?.textContent ?? "";
    return {
      name: item.textContent.slice(0, item.textContent.length - value.length), colour: mark || style(swatch, "border-top-color"),
      hatched: swatch.classList.contains("hatched"), dash: mark ? null : dashes[style(swatch, "border-top-style")],
    };
  });
  const sentence = () => document.getElementById("verdict").textContent;

  // wrapped cuts a sentence into lines of about that many letters.
  const wrapped = (words, letters) => words.split(" ").reduce((lines, word) => {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length >= letters) lines.push(word);
    else lines[last] = lines[last] ? `${lines[last]} ${word}` : word;
    return lines;
  }, [""]);

  const text = (s) => String(s).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const round = (v) => Math.round(v * 100) / 100;
  const hatched = (id, colour) => `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="6" height="6" fill="${page("--panel")}"/><rect width="6" height="3" fill="${colour}"/></pattern>`;

  // recorder is a canvas's pen that writes SVG: what a chart paints by itself (the heat map's cells, the boxes of the
  // Gantt chart, the lines of faults and events) is painted once more with it.
  const recorder = (measure) => {
    const out = [], defs = [], states = [];
    let path = "", ids = 0;
    const paint = (style) => {
      if (typeof style === "string") return style;
      const id = `r${ids++}`;
      defs.push(hatched(id, style?.colour ?? page("--bad")));
      return `url(#${id})`;
    };
    const box = (x, y, w, h) => `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}Z`;
    const common = () => (pen.globalAlpha < 1 ? ` opacity="${round(pen.globalAlpha)}"` : "") + (pen.clipped ? ` clip-path="url(#${pen.clipped})"` : "");
    const shape = (d, filled) => {
      const look = filled ? `fill="${paint(pen.fillStyle)}"`
        : `fill="none" stroke="${paint(pen.strokeStyle)}" stroke-width="${round(pen.lineWidth)}"${pen.dashes.length ? ` stroke-dasharray="${pen.dashes.join(" ")}"` : ""}`;
      out.push(`<path d="${d}" ${look}${common()}/>`);
    };
    const pen = {
      fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "12px sans-serif", textAlign: "left", textBaseline: "alphabetic", dashes: [], clipped: "",
      save() { const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dashes, clipped } = pen; states.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dashes, clipped }); },
      restore() { Object.assign(pen, states.pop()); },
      setLineDash(list) { pen.dashes = list; },
      beginPath() { path = ""; }, closePath() { path += "Z"; },
      moveTo(x, y) { path += `M${round(x)} ${round(y)}`; }, lineTo(x, y) { path += `L${round(x)} ${round(y)}`; }, rect(...b) { path += box(...b); },
      arc(x, y, r) { path += `M${round(x - r)} ${round(y)}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0`; },
      clip() { pen.clipped = `c${ids++}`; defs.push(`<clipPath id="${pen.clipped}"><path d="${path}"/></clipPath>`); },
      fill() { shape(path, true); }, stroke() { shape(path, false); },
      fillRect(...b) { shape(box(...b), true); }, strokeRect(...b) { shape(box(...b), false); }, clearRect() {},
      measureText(words) { measure.font = pen.font; return measure.measureText(words); },
      fillText(words, x, y) {
        const [, weight = "400", size = "12"] = /^(?:(\d+) )?([\d.]+)px/.exec(pen.font) ?? [];
        const anchor = { center: "middle", right: "end", end: "end" }[pen.textAlign] ?? "start";
        out.push(`<text x="${round(x)}" y="${round(pen.textBaseline === "middle" ? y + size * 0.35 : y)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${paint(pen.fillStyle)}"${common()}>${text(words)}</text>`);
      },
    };
    return { pen, done: () => `<defs>${defs.join("")}</defs>${out.join("")}` };
  };

  // painted is what a chart's own hooks paint over its series.
  const painted = (u) => {
    const { pen, done } = recorder(document.createElement("canvas").getContext("2d"));
    const twin = Object.create(u, { ctx: { value: pen } });
    for (const hook of u.hooks.draw ?? []) hook(twin);
    return `<g transform="scale(${1 / (devicePixelRatio || 1)})">${done()}</g>`;
  };

  // framed puts a drawing under its title, above its legend and the sentence, as a file of its own.
  const framed = (figure, inside, width, height) => {
    const unit = wrapped(figure.querySelector("figcaption .unit").textContent, width / 6), said = wrapped(sentence(), width / 6.5);
    const lines = (list, y, step, more) => list.map((part, i) => `<text x="12" y="${y + step * i}" ${more}>${text(part)}</text>`).join("");
    const top = 30 + 15 * unit.length;
    let x = 12, foot = top + height + 36, out = "";
    entries(figure).forEach((e, i) => {
      const room = 38 + 7 * e.name.length, fill = e.hatched ? `url(#l${i})` : e.colour;
      if (x > 12 && x + room > width + 24) { x = 12; foot += 18; }
      if (e.hatched) out += `<defs>${hatched(`l${i}`, e.colour)}</defs>`;
      out += (e.dash ? `<path d="M${x} ${foot - 4}h20" stroke="${e.colour}" stroke-width="2"${e.dash.length ? ` stroke-dasharray="${e.dash.join(" ")}"` : ""}/>` : `<rect x="${x}" y="${foot - 9}" width="18" height="10" fill="${fill}"/>`) +
        `<text x="${x + 24}" y="${foot}">${text(e.name)}</text>`;
      x += room;
    });
    const all = { w: Math.ceil(width + 24), h: Math.ceil(foot + 14 + 18 * said.length) };
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${all.w}" height="${all.h}" viewBox="0 0 ${all.w} ${all.h}" font-family="system-ui, sans-serif" font-size="12" fill="${page("--ink")}">` +
      `<title>${text(titleOf(figure))}</title><desc>${text(sentence())}</desc><rect width="100%" height="100%" fill="${page("--panel")}"/>` +
      `<text x="12" y="20" font-size="13" font-weight="600">${text(titleOf(figure))}</text>${lines(unit, 36, 15, `font-size="11" fill="${page("--soft")}"`)}` +
      `<g transform="translate(12 ${top})">${inside}</g>${out}${lines(said, foot + 22, 18, "")}</svg>`;
  };

  // series redraws a uPlot chart from its data and scales, as curves that a person can edit.
  const series = (figure, u) => {
    const width = u.over.clientWidth, height = u.over.clientHeight;
    const left = u.over.offsetLeft, top = u.over.offsetTop;
    const list = entries(figure);
    const stepped = list.length > 1 && u.series[1].fill && u.bands.length > 0;
    const at = (x, y) => `${round(u.valToPos(x, "x"))} ${round(u.valToPos(y, "y"))}`;
    const xs = u.data[0];
    // outline is a series as path commands; a gap lifts the pen.
    const outline = (ys) => {
      let path = "", pen = "M";
      ys.forEach((y, i) => {
        if (y === undefined && u.series[1].spanGaps) return; // of a curve that is joined with others
        if (y == null || y !== y) { pen = "M"; return; }
        path += pen + at(xs[i], y);
        pen = "L";
      });
      return path;
    };
    const band = (upper, lower) => {
      const corners = (ys) => ys.flatMap((y, i) => (y == null ? [] : i + 1 < xs.length ? [[xs[i], y], [xs[i + 1], y]] : [[xs[i], y]]));
      const points = [...corners(upper), ...corners(lower ?? upper.map((y) => (y == null ? y : 0))).reverse()];
      return points.length ? `M${points.map(([x, y]) => at(x, y)).join("L")}Z` : "";
    };
    const out = [], patterns = [];
    for (const axis of u.axes) {
      const across = axis.side % 2 === 0;
      (axis._splits ?? []).forEach((v, i) => {
        const label = axis._values?.[i];
        if (v == null || label == null) return;
        const p = round(u.valToPos(v, axis.scale)), grid = axis.grid.show === false ? "none" : page("--grid");
        out.push(across ? `<path d="M${p} 0V${height}" stroke="${grid}"/><text x="${p}" y="${height + 16}" text-anchor="middle">${text(label)}</text>`
          : `<path d="M0 ${p}H${width}" stroke="${grid}"/><text x="-6" y="${p + 4}" text-anchor="end">${text(label)}</text>`);
      });
    }
    u.series.slice(1).forEach((s, i) => {
      const stroke = typeof s.stroke === "function" ? s.stroke(u, i + 1) : s.stroke;
      if (stepped) {
        const { colour, hatched: striped } = list[i];
        if (striped) patterns.push(hatched(`h${i}`, colour));
        out.push(`<path d="${band(u.data[i + 1], i ? u.data[i] : null)}" fill="${striped ? `url(#h${i})` : colour}" stroke="${page("--panel")}"/>`);
      } else if (stroke !== "transparent") {
        const dash = s.dash?.length ? ` stroke-dasharray="${s.dash.join(" ")}"` : "";
        out.push(`<path d="${outline(u.data[i + 1])}" fill="none" stroke="${stroke}" stroke-width="${s.width || 1}"${dash}/>`);
      }
    });
    return framed(figure, `<defs>${patterns.join("")}</defs><g transform="translate(${left} ${top})">${out.join("")}</g>${painted(u)}`, u.width, top + height);
  };

  // vector is a figure as SVG: a chart is drawn once more, a drawing that is SVG already gets its colours by value.
  const vector = (figure) => {
    const drawn = figure.querySelector(".drawing > svg");
    if (!drawn) return series(figure, charts.get(figure));
    const { width, height } = drawn.viewBox.baseVal;
    const inside = drawn.innerHTML.replace(/var\((--[\w-]+)\)/g, (_, name) => page(name));
    return framed(figure, inside, Math.max(width, 420), height);
  };

  // raster is SVG as a picture, at twice its size.
  const raster = async (source) => {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
  };

  const chart = async (figure, form) => {
    const name = `minilb-${figure.id}.${form}`;
    if (!charts.has(figure) && !figure.querySelector(".drawing > svg")) return; // nothing to see yet
    if (form === "svg") save(name, vector(figure), "image/svg+xml");
    else (await raster(vector(figure))).toBlob((blob) => save(name, blob));
  };

  // table is a figure's table as CSV. Tables are written while they are open, so it is opened for as long as that takes.
  const table = (figure) => {
    const details = figure.querySelector("details.table"), was = details.open;
    details.open = true;
    details.dispatchEvent(new Event("toggle"));
    const cell = (s) => (/[",\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
    const lines = [...details.querySelectorAll("tr")].map((line) => [...line.children].map((c) => cell(c.textContent)).join(","));
    details.open = was;
    save(`minilb-${figure.id}.csv`, `${lines.join("\r\n")}\r\n`, "text/csv");
  };

  // The QR library is asked for when somebody wants a code; the single file has it inside.
  let library = null;
  const load = () => library ??= typeof qrcode === "function" ? Promise.resolve() : new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `qrcode.js${globalThis.minilb.version}`;
    script.onload = done;
    script.onerror = () => { library = null; failed(new Error("qrcode.js")); };
    document.head.append(script);
  });
  const qr = async (box, link, label) => {
    await load();
    const code = qrcode(0, "L");
    code.addData(link, "Byte");
    code.make();
    box.innerHTML = code.createSvgTag({ scalable: true, margin: 4, cellSize: 1, title: label });
  };

  globalThis.minilbExport = {
    save, chart, table, qr,
    charts: () => [...document.querySelectorAll("#results figure:has(.plot, .drawing)")], // drawn already, or when they come into sight
    onFile: null, // set by the program: (name, text)
    take: (file) => file?.text().then((content) => globalThis.minilbExport.onFile?.(file.name, content)),
  };

  const carriesFile = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    document.documentElement.dataset.drop = "";
  });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) delete document.documentElement.dataset.drop; });
  addEventListener("drop", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    delete document.documentElement.dataset.drop;
    globalThis.minilbExport.take(event.dataTransfer.files[0]);
  });
})();
