// Draws what the program hands over: cuts the packed array (its layout stands in wasm/page/pack.go) and feeds uPlot.
// It decides nothing about a scenario; letters, colours, words and the stacking come from Go.
"use strict";
(() => {
  const sync = uPlot.sync("minilb");
  const { t: word, figure: number } = minilbWords;
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const theme = () => ({
    ink: style("--ink"), soft: style("--soft"), grid: style("--grid"), panel: style("--panel"),
    out: style("--bad"), back: style("--good"), fault: style("--fault"), accent: style("--accent"), lines: [style("--p50"), style("--p95"), style("--p99")],
  });
  let colours = theme();

  // cut gives views into the array, one object for each policy.
  const kinds = 6; // of failure
  const cut = (packed) => {
    const [policies, backends] = packed;
    let at = 2;
    return Array.from({ length: policies }, () => {
      const windows = packed[at], seconds = packed[at + 1];
      at += 2;
      const column = () => packed.subarray(at, at += windows);
      const columns = (n) => Array.from({ length: n }, column);
      const [start, p50, p95, p99, answered, errors, dropped, attempts] = columns(8);
      return { windows, seconds, start, percentiles: [p50, p95, p99], answered, errors, dropped, attempts,
        kinds: columns(kinds), stacked: columns(backends), inFlight: columns(backends), failed: columns(backends) };
    });
  };

  // uPlot takes null for a gap.
  const gaps = (column) => Array.from(column, (v) => (v === v ? v : null));

  // stepped closes the last window: a step chart needs the end of it as a point.
  const stepped = (column) => { const list = gaps(column); list.push(list[list.length - 1] ?? null); return list; };

  // ends are the windows' beginnings and the last one's end.
  const ends = (run) => {
    const times = gaps(run.start);
    if (run.windows) times.push(run.start[run.windows - 1] + run.seconds);
    return times;
  };

  const milliseconds = (v) => number(v >= 1000 ? `${+(v / 1000).toPrecision(3)} s` : v >= 1 || v === 0 ? `${+v.toPrecision(3)} ms` : `${+(v * 1000).toPrecision(3)} µs`);
  const percent = (v) => number(`${(v * 100).toFixed(0)}%`);
  const seconds = (v) => number(`${+v.toPrecision(6)} s`);

  // round125 is the next 1, 2 or 5 times a power of ten, down or up.
  const round125 = (v, up) => {
    const decade = 10 ** Math.floor(Math.log10(v));
    const steps = [1, 2, 5, 10].map((m) => m * decade);
    return up ? steps.find((s) => s >= v * 0.9999) : steps.reverse().find((s) => s <= v * 1.0001);
  };
  const steps125 = (lo, hi) => {
    const list = [];
    for (let v = round125(lo, true); v <= hi * 1.0001; v = round125(v * 1.5, true)) list.push(v);
    return list;
  };

  // latencyRange is the same for all policies of a run, so that switching between them compares.
  const latencyRange = (runs) => {
    let lo = Infinity, hi = 0;
    for (const { percentiles } of runs) {
      for (const v of percentiles[0]) if (v > 0 && v < lo) lo = v;
      for (const v of percentiles[2]) if (v > hi) hi = v;
    }
    return hi > 0 ? [round125(lo, false), round125(Math.max(hi, lo * 2), true)] : [1, 100];
  };
  const endOf = (runs) => Math.max(...runs.map((r) => r.windows ? r.start[r.windows - 1] + r.seconds : 1));

  let hatches = new Map();
  const hatch = (colour) => {
    if (!hatches.has(colour)) {
      const tile = document.createElement("canvas");
      const size = 8 * devicePixelRatio;
      tile.width = tile.height = size;
      const pen = tile.getContext("2d");
      pen.fillStyle = colours.panel;
      pen.fillRect(0, 0, size, size);
      pen.strokeStyle = colour;
      pen.lineWidth = 3 * devicePixelRatio;
      for (const shift of [-size, 0, size]) {
        pen.moveTo(shift, size);
        pen.lineTo(shift + size, 0);
      }
      pen.stroke();
      hatches.set(colour, Object.assign(pen.createPattern(tile, "repeat"), { colour })); // for a drawing without canvas
    }
    return hatches.get(colour);
  };

  const axis = (more) => ({
    stroke: () => colours.soft, grid: { stroke: () => colours.grid, width: 1 }, ticks: { show: false },
    font: "11px system-ui, sans-serif", ...more,
  });
  const timeAxis = () => axis({ size: 26, gap: 4, space: 60, values: (_, list) => list.map((v) => number(`${+v.toFixed(6)} s`)) });

  let now = null; // what is shown: {run, runs, backends, events, spans, troubles, curves, policies, shown}

  // drawEvents marks the scenario's faults and the run's events as lines, dashed, solid for out and dotted for back,
  // with words on top while there is room.
  const dashes = { fault: [7, 3], out: [], back: [2, 3] };
  const drawEvents = (u) => {
    const { ctx, bbox } = u;
    const events = now.events.slice(0, 200);
    ctx.save();
    ctx.font = `600 ${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    let free = 0;
    for (const e of events) {
      const x = Math.round(u.valToPos(e.at, "x", true));
      ctx.strokeStyle = ctx.fillStyle = colours[e.kind];
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash(dashes[e.kind].map((d) => d * devicePixelRatio));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + (events.length > 40 && e.kind !== "fault" ? 8 * devicePixelRatio : bbox.height));
      ctx.stroke();
      const width = ctx.measureText(e.label).width;
      if (x >= free && x + width < bbox.left + bbox.width) {
        const colour = ctx.fillStyle;
        ctx.fillStyle = colours.panel;
        ctx.fillRect(x + devicePixelRatio, bbox.top + devicePixelRatio, width + 5 * devicePixelRatio, 14 * devicePixelRatio);
        ctx.fillStyle = colour;
        ctx.fillText(e.label, x + 3 * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
        free = x + width + 8 * devicePixelRatio;
      }
    }
    ctx.restore();
  };

  // drawLetters writes each backend's letter beside the plot, at the height of its band's middle over the whole run.
  const drawLetters = (u) => {
    const { ctx, bbox } = u;
    const apart = 11 * devicePixelRatio;
    ctx.save();
    ctx.font = `700 ${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillStyle = colours.ink;
    const tops = now.run.stacked.map(mean);
    let y = bbox.top + bbox.height + apart;
    now.backends.forEach((b, i) => {
      const wanted = u.valToPos((tops[i] + (i ? tops[i - 1] : 0)) / 2, "y", true);
      const room = bbox.top + (now.backends.length - 1 - i) * apart; // for those above
      y = Math.max(Math.min(wanted, y - apart), Math.min(room, y - 6 * devicePixelRatio));
      if (y > 0) ctx.fillText(b.letter, bbox.left + bbox.width + 10 * devicePixelRatio, y);
    });
    ctx.restore();
  };
  const mean = (column) => {
    let sum = 0, n = 0;
    for (const v of column) if (v === v) { sum += v; n++; }
    return n ? sum / n : 0;
  };

  // The legend shows what is under the pointer, and without one what is at the clock's moment.
  const windowAt = (t) => Math.min(Math.max(0, Math.floor(t / (now.run.seconds || 1))), Math.max(0, now.run.windows - 1));
  const values = (chart) => {
    if (!chart.text || !chart.plot || chart.dirty) return;
    const w = chart.plot.cursor.idx ?? windowAt(minilbTime.now());
    chart.figure.querySelectorAll(".legend output").forEach((item, i) => {
      const words = chart.text(i, w);
      if (item.textContent !== words) item.textContent = words;
    });
  };

  const size = (box) => ({ width: Math.max(200, box.clientWidth), height: Math.max(60, box.clientHeight) });
  const common = (chart) => ({
    ...size(chart.box), legend: { show: false }, padding: [8, 20, 0, 0],
    cursor: { sync: { key: sync.key, setSeries: false }, y: false, drag: { x: false, y: false }, points: { show: false } },
    hooks: { draw: [...(chart.draw ?? []), drawEvents], setCursor: [() => values(chart)] },
  });
  const xScale = () => ({ time: false, range: () => [0, endOf(now.runs)] });
  const shown = (v, text) => (v === v && v !== undefined && v !== null ? text(v) : "–");

  const legend = (figure, entries) => {
    const list = figure.querySelector(".legend");
    list.replaceChildren(...entries.map(({ mark, name }) => {
      const item = document.createElement("li"), swatch = document.createElement("span"), value = document.createElement("output");
      swatch.className = `swatch ${mark}`;
      item.append(swatch, document.createTextNode(name), value);
      return item;
    }));
  };

  // A chart is a figure and how it is made: options, data, the key that tells when it must be made anew, the words of
  // its legend, and its table. Only what can be seen is drawn; the rest is drawn when it comes into sight.
  const charts = [];
  const add = (id, how) => {
    const figure = document.getElementById(id);
    const chart = { figure, box: figure.querySelector(".plot"), plot: null, built: "", dirty: true, near: false, room: 0, ...how };
    charts.push(chart);
    const details = figure.querySelector("details.table");
    details.addEventListener("toggle", () => fillTable(chart));
    near.observe(figure);
    observer.observe(chart.box);
  };

  const make = (chart, key) => {
    chart.plot?.destroy();
    if (chart.legend) legend(chart.figure, chart.legend());
    chart.plot = new uPlot(chart.options(common(chart), chart), chart.data(), chart.box);
    chart.built = key;
    if (chart.still) return;
    chart.head = document.createElement("div");
    chart.head.className = "playhead";
    chart.plot.over.append(chart.head);
    chart.plot.over.addEventListener("click", (e) => minilbTime.seek(chart.plot.posToVal(e.offsetX, "x")));
  };

  const drawChart = (chart) => {
    if (!now || !chart.near || !chart.dirty || !chart.room) return;
    chart.dirty = false;
    const key = chart.key ? chart.key() : "one";
    if (!chart.plot || chart.built !== key) make(chart, key);
    else chart.plot.setData(chart.data());
    place(chart);
    fillTable(chart);
  };

  // place puts the line of the clock's moment on a chart.
  const place = (chart, words = true) => {
    if (!chart.head || chart.dirty) return;
    const t = minilbTime.now();
    chart.head.style.transform = `translateX(${chart.plot.valToPos(t, "x")}px)`;
    if (words && chart.plot.cursor.idx == null) values(chart);
  };

  // Tables are written only while they are open: they are for reading, and cost more than the charts.
  const fill = (details, heads, rows) => {
    const line = (cells, kind) => {
      const tr = document.createElement("tr");
      cells.forEach((text, i) => {
        const cell = document.createElement(i ? kind : "th");
        cell.textContent = text;
        if (cell.tagName === "TH") cell.scope = kind === "th" ? "col" : "row";
        tr.append(cell);
      });
      return tr;
    };
    const element = document.createElement("table"), head = document.createElement("thead"), body = document.createElement("tbody");
    head.append(line(heads, "th"));
    body.append(...rows.map((cells) => line(cells, "td")));
    element.append(head, body);
    details.querySelector(".scroll").replaceChildren(element);
  };
  const fillTable = (chart) => {
    const details = chart.figure.querySelector("details.table");
    if (details.open && now) fill(details, ...chart.table());
  };
  const byWindow = (heads, row) => [[word("from"), ...heads], Array.from({ length: now.run.windows }, (_, w) => [seconds(now.run.start[w]), ...row(w)])];

  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((c) => c.figure === entry.target);
      chart.near = entry.isIntersecting;
      drawChart(chart);
    }
  }, { rootMargin: "300px" });
  const observer = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((c) => c.box === entry.target);
      chart.room = entry.contentRect.width; // asking the box for it later would make the browser lay the page out
      if (chart.plot && chart.room) chart.plot.setSize(size(chart.box));
      drawChart(chart);
      if (chart.plot) place(chart);
    }
  });

  const nameOf = (b) => (b.name === b.letter ? b.name : `${b.letter} ${b.name}`);
  const names = () => now.backends.map((b) => ({ mark: b.mark, name: nameOf(b) }));
  const backendsKey = () => JSON.stringify(now.backends);

  const percentiles = ["p50", "p95", "p99"];
  const latencyAxis = () => axis({ size: 54, gap: 4, splits: (u) => steps125(u.scales.y.min, u.scales.y.max),
    filter: (_, list) => list, values: (u, list) => {
      const room = u.bbox.height / devicePixelRatio / list.length > 15;
      return list.map((v) => room || /^1/.test(String(v * 1e6)) ? milliseconds(v) : "");
    } });
  add("latency", {
    options: (base) => ({
      ...base, scales: { x: xScale(), y: { distr: 3, range: () => latencyRange(now.runs) } }, axes: [timeAxis(), latencyAxis()],
      series: [{}, ...percentiles.map((label, i) => ({
        label, width: [1.5, 1.5, 2.25][i], dash: [[2, 3], [7, 4], []][i], stroke: () => colours.lines[i], points: { show: false },
      }))],
    }),
    data: () => [gaps(now.run.start), ...now.run.percentiles.map(gaps)],
    legend: () => percentiles.map((name) => ({ mark: name, name })),
    text: (i, w) => shown(now.run.percentiles[i][w], milliseconds),
    table: () => byWindow([...percentiles, word("answered"), word("errors")], (w) => [...now.run.percentiles.map((p) => shown(p[w], milliseconds)),
      String(now.run.answered[w]), String(now.run.errors[w])]),
  });

  const shareOf = (i, w) => now.run.stacked[i]?.[w] - (i ? now.run.stacked[i - 1][w] : 0);
  const tenths = (v) => number(`${(v * 100).toFixed(1)}%`);
  add("share", {
    key: backendsKey, draw: [(u) => drawLetters(u)],
    options: (base) => {
      const fill = (b) => () => (b.hatched ? hatch(b.colour) : b.colour);
      return {
        ...base, scales: { x: xScale(), y: { range: [0, 1] } },
        axes: [timeAxis(), axis({ size: 54, gap: 4, splits: () => [0, 0.25, 0.5, 0.75, 1], values: (_, list) => list.map(percent) })],
        // The first backend's band reaches down to zero as a fill, each other one's down to the band before it.
        series: [{}, ...now.backends.map((b, i) => ({
          label: b.name, paths: uPlot.paths.stepped({ align: 1 }), width: 1, stroke: () => colours.panel, points: { show: false }, fill: i ? undefined : fill(b),
        }))],
        bands: now.backends.slice(1).map((b, i) => ({ series: [i + 2, i + 1], fill: fill(b) })),
      };
    },
    data: () => [ends(now.run), ...now.run.stacked.map(stepped)],
    legend: names, text: (i, w) => shown(shareOf(i, w), tenths),
    table: () => byWindow(now.backends.map((b) => b.name), (w) => now.backends.map((_, i) => shown(shareOf(i, w), tenths))),
  });

  const again = () => {
    colours = theme();
    hatches = new Map();
    for (const { plot } of charts) plot?.redraw(false);
  };
  darkness.addEventListener("change", again);
  let worded = 0; // while the clock plays, the words of the legends change ten times a second
  minilbTime.follow((t, elapsed, playing) => {
    const words = !playing || performance.now() - worded > 100;
    if (words) worded = performance.now();
    for (const chart of charts) if (chart.near && chart.plot) place(chart, words);
  });

  globalThis.minilbDraw = {
    add, fill, axis, timeAxis, latencyAxis, xScale, gaps, stepped, shown, byWindow, names, nameOf, backendsKey, round125, milliseconds, seconds, percent, hatch,
    now: () => now, colours: () => colours, end: () => endOf(now.runs), ends,
  };

  // show is the one entry: a Float64Array, the policy's place in it, and JSON with backends, events and spans.
  globalThis.minilbCharts = {
    lines: minilbTime.newLines,
    // hold is told that a change is under way. Nobody sees the picture rest for so short a time; a long run does not stop it.
    hold: () => minilbTime.hold(150),
    show(packed, index, meta) {
      const runs = cut(packed);
      if (!runs[index]) return;
      minilbTime.hold(0);
      now = { runs, run: runs[index], ...JSON.parse(meta) };
      for (const chart of charts) chart.dirty = true;
      minilbFlow.show(now);
      minilbTime.span(endOf(runs), now.events.map((e) => e.at));
      charts.forEach(drawChart);
    },
  };
})();
