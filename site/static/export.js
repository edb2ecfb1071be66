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
  const titleOf = (figure) => `${figure.querySelector("h2").textContent} ${figure.querySelector("figcaption .unit")?.textContent ?? ""}`.trim();
  // entries are a chart's series as its legend shows them: a name, a colour, and whether it is hatched or dashed.
  const entries = (figure) => [...figure.querySelectorAll(".legend li")].map((item) => {
    const swatch = item.querySelector(".swatch");
    const value = item.querySelector("output")?.textContent ?? "";
    return {
      name: item.textContent.slice(0, item.textContent.length - value.length),
      colour: style(swatch, "--mark") || style(swatch, "border-top-color"), hatched: swatch.classList.contains("hatched"),
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

  // picture is the chart's canvas under its title, above its legend and the sentence, in the page's colours.
  const picture = (figure) => {
    const drawn = figure.querySelector("canvas");
    const ratio = drawn.width / drawn.clientWidth || 1;
    const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
    const line = 20 * ratio, left = 12 * ratio;
    const said = wrapped(sentence(), drawn.clientWidth / 6.5);
    canvas.width = drawn.width + 2 * left;
    canvas.height = drawn.height + (3.5 + said.length) * line;
    pen.fillStyle = page("--panel");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = page("--ink");
    pen.font = `600 ${13 * ratio}px system-ui, sans-serif`;
    pen.fillText(titleOf(figure), left, line);
    pen.drawImage(drawn, left, 1.5 * line);
    pen.font = `${12 * ratio}px system-ui, sans-serif`;
    let x = left;
    const y = drawn.height + 2.6 * line;
    for (const e of entries(figure)) {
      pen.fillStyle = e.colour;
      pen.fillRect(x, y - 8 * ratio, 16 * ratio, e.hatched ? 3 * ratio : 8 * ratio);
      pen.fillStyle = page("--ink");
      pen.fillText(e.name, x + 21 * ratio, y);
      x += pen.measureText(e.name).width + 36 * ratio;
    }
    pen.fillStyle = page("--soft");
    said.forEach((words, i) => pen.fillText(words, left, y + (1.2 + i) * line, drawn.width));
    return canvas;
  };

  const text = (s) => String(s).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const round = (v) => Math.round(v * 100) / 100;

  // vector redraws a uPlot chart from its data and scales, as curves that a person can edit.
  const vector = (figure) => {
    const u = charts.get(figure);
    const width = u.over.clientWidth, height = u.over.clientHeight;
    const left = u.over.offsetLeft + 12, top = u.over.offsetTop + 32;
    const list = entries(figure);
    const stepped = list.length > 1 && u.series[1].fill && u.bands.length > 0;
    const at = (x, y) => `${round(u.valToPos(x, "x"))} ${round(u.valToPos(y, "y"))}`;
    const xs = u.data[0];
    // outline is a series as path commands; a gap lifts the pen, and a step holds its value to the next window.
    const outline = (ys) => {
      let path = "", pen = "M", last = null;
      ys.forEach((y, i) => {
        if (y == null || y !== y) { pen = "M"; last = null; return; }
        if (stepped && last !== null) path += `L${at(xs[i], last)}`;
        path += pen + at(xs[i], y);
        pen = "L"; last = y;
      });
      return path;
    };
    const band = (upper, lower) => {
      const corners = (ys) => ys.flatMap((y, i) => (y == null ? [] : i + 1 < xs.length ? [[xs[i], y], [xs[i + 1], y]] : [[xs[i], y]]));
      const points = [...corners(upper), ...corners(lower ?? upper.map((y) => (y == null ? y : 0))).reverse()];
      return points.length ? `M${points.map(([x, y]) => at(x, y)).join("L")}Z` : "";
    };
    const out = [];
    for (const axis of u.axes) {
      const across = axis.side % 2 === 0;
      (axis._splits ?? []).forEach((v, i) => {
        const label = axis._values?.[i];
        if (v == null || label == null) return;
        const p = round(u.valToPos(v, axis.scale));
        out.push(across ? `<path d="M${p} 0V${height}" stroke="${page("--grid")}"/><text x="${p}" y="${height + 16}" text-anchor="middle">${text(label)}</text>`
          : `<path d="M0 ${p}H${width}" stroke="${page("--grid")}"/><text x="-6" y="${p + 4}" text-anchor="end">${text(label)}</text>`);
      });
    }
    const patterns = [];
    u.series.slice(1).forEach((s, i) => {
      const { colour, hatched } = list[i] ?? { colour: page("--ink"), hatched: false };
      if (stepped) {
        if (hatched) patterns.push(`<pattern id="h${i}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="6" height="3" fill="${colour}"/></pattern>`);
        out.push(`<path d="${band(u.data[i + 1], i ? u.data[i] : null)}" fill="${hatched ? `url(#h${i})` : colour}" stroke="${page("--panel")}"/>`);
      } else {
        const dash = s.dash?.length ? ` stroke-dasharray="${s.dash.join(" ")}"` : "";
        out.push(`<path d="${outline(u.data[i + 1])}" fill="none" stroke="${colour}" stroke-width="${s.width || 1}"${dash}/>`);
      }
    });
    let x = -left + 12;
    const foot = height + 44;
    for (const e of list) {
      out.push(`<rect x="${x}" y="${foot - 8}" width="16" height="8" fill="${e.colour}"/><text x="${x + 21}" y="${foot}">${text(e.name)}</text>`);
      x += 36 + 7 * e.name.length;
    }
    const said = wrapped(sentence(), (left + width) / 6.5);
    const all = { w: left + width + 24, h: top + foot + 14 + 20 * said.length };
    const words = said.map((part, i) => `<text x="${12 - left}" y="${foot + 22 + 18 * i}">${text(part)}</text>`).join("");
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${all.w}" height="${all.h}" viewBox="0 0 ${all.w} ${all.h}" font-family="system-ui, sans-serif" font-size="12" fill="${page("--ink")}">` +
      `<title>${text(titleOf(figure))}</title><desc>${text(sentence())}</desc><defs>${patterns.join("")}</defs>` +
      `<rect width="100%" height="100%" fill="${page("--panel")}"/><text x="12" y="20" font-size="13" font-weight="600">${text(titleOf(figure))}</text>` +
      `<g transform="translate(${left} ${top})">${out.join("")}${words}</g></svg>`;
  };

  const chart = (figure, form) => {
    const name = `minilb-${figure.id}.${form}`;
    if (form === "svg") save(name, vector(figure), "image/svg+xml");
    else picture(figure).toBlob((blob) => save(name, blob));
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
    save, chart, qr, charts: () => [...charts.keys()].filter((figure) => figure?.isConnected),
    hasVector: (figure) => charts.has(figure),
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
