// Draws what the program hands over: cuts the packed array (its layout stands in wasm/page/pack.go) and feeds uPlot.
// It decides nothing about a scenario; letters, colours, words and the stacking come from Go.
"use strict";
(() => {
  const sync = uPlot.sync("minilb");
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const theme = () => ({
    ink: style("--ink"), soft: style("--soft"), grid: style("--grid"), panel: style("--panel"),
    out: style("--bad"), back: style("--good"), lines: [style("--p50"), style("--p95"), style("--p99")],
  });
  let colours = theme();

  // cut gives views into the array, one object for each policy.
  const cut = (packed) => {
    const [policies, backends] = packed;
    let at = 2;
    return Array.from({ length: policies }, () => {
      const windows = packed[at], seconds = packed[at + 1];
      at += 2;
      const column = () => packed.subarray(at, at += windows);
      const columns = (n) => Array.from({ length: n }, column);
      const [start, p50, p95, p99, answered, errors] = columns(6);
      return { windows, seconds, start, percentiles: [p50, p95, p99], answered, errors,
        stacked: columns(backends), inFlight: columns(backends) };
    });
  };

  // uPlot takes null for a gap.
  const gaps = (column) => Array.from(column, (v) => (v === v ? v : null));

  // stepped closes the last window: a step chart needs the end of it as a point.
  const stepped = (column) => { const list = gaps(column); list.push(list[list.length - 1] ?? null); return list; };

  const milliseconds = (v) => v >= 1000 ? `${+(v / 1000).toPrecision(3)} s` : v >= 1 || v === 0 ? `${+v.toPrecision(3)} ms` : `${+(v * 1000).toPrecision(3)} µs`;
  const percent = (v) => `${(v * 100).toFixed(0)}%`;
  const seconds = (v) => `${+v.toPrecision(6)} s`;

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
      hatches.set(colour, pen.createPattern(tile, "repeat"));
    }
    return hatches.get(colour);
  };

  const axis = (more) => ({
    stroke: () => colours.soft, grid: { stroke: () => colours.grid, width: 1 }, ticks: { show: false },
    font: "11px system-ui, sans-serif", ...more,
  });
  const timeAxis = () => axis({ size: 26, gap: 4, space: 60, values: (_, list) => list.map((v) => `${+v.toFixed(6)} s`) });

  let now = null; // what is shown: {run, runs, backends, events}

  // drawEvents marks the events as lines, solid for out and dotted for back, with words on top while there is room.
  const drawEvents = (u) => {
    const { ctx, bbox } = u;
    const events = now.events.slice(0, 200);
    ctx.save();
    ctx.font = `600 ${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    let free = 0;
    for (const e of events) {
      const x = Math.round(u.valToPos(e.at, "x", true));
      ctx.strokeStyle = ctx.fillStyle = e.out ? colours.out : colours.back;
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash(e.out ? [] : [3 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + (events.length > 40 ? 8 * devicePixelRatio : bbox.height));
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

  // values shows what is under the cursor in the legend, and the whole run's when there is none.
  const values = (figure, text) => (u) => {
    const items = figure.querySelectorAll(".legend output");
    items.forEach((item, i) => { item.textContent = u.cursor.idx == null ? "" : text(i, u.cursor.idx); });
  };

  const size = (box) => ({ width: Math.max(200, box.clientWidth), height: Math.max(100, box.clientHeight) });
  const common = (box) => ({
    ...size(box), legend: { show: false }, padding: [8, 20, 0, 0],
    cursor: { sync: { key: sync.key, setSeries: false }, y: false, drag: { x: false, y: false }, points: { show: false } },
  });
  const shown = (v, text) => (v === v && v !== undefined ? text(v) : "–");

  const latencyFigure = document.getElementById("latency"), shareFigure = document.getElementById("share"),
    inflightFigure = document.getElementById("inflight");
  const plotOf = (figure) => figure.querySelector(".plot");

  const legend = (figure, entries) => {
    const list = figure.querySelector(".legend");
    list.replaceChildren(...entries.map(({ mark, name }) => {
      const item = document.createElement("li"), swatch = document.createElement("span"), value = document.createElement("output");
      swatch.className = `swatch ${mark}`;
      item.append(swatch, document.createTextNode(name), value);
      return item;
    }));
  };

  const makeLatency = () => {
    const box = plotOf(latencyFigure);
    legend(latencyFigure, ["p50", "p95", "p99"].map((name) => ({ mark: name, name })));
    const dashes = [[2, 3], [7, 4], []], widths = [1.5, 1.5, 2.25];
    return new uPlot({
      ...common(box),
      scales: {
        x: { time: false, range: () => [0, endOf(now.runs)] },
        y: { distr: 3, range: () => latencyRange(now.runs) },
      },
      axes: [timeAxis(), axis({ size: 54, gap: 4, splits: (u) => steps125(u.scales.y.min, u.scales.y.max),
        filter: (_, list) => list, values: (u, list) => {
          const room = u.bbox.height / devicePixelRatio / list.length > 15;
          return list.map((v) => room || /^1/.test(String(v * 1e6)) ? milliseconds(v) : "");
        } })],
      series: [{}, ...["p50", "p95", "p99"].map((label, i) => ({
        label, width: widths[i], dash: dashes[i].map((d) => d), stroke: () => colours.lines[i], points: { show: false },
      }))],
      hooks: {
        draw: [drawEvents],
        setCursor: [values(latencyFigure, (i, w) => shown(now.run.percentiles[i][w], milliseconds))],
      },
    }, latencyData(), box);
  };
  const latencyData = () => [gaps(now.run.start), ...now.run.percentiles.map(gaps)];

  const makeShare = () => {
    const box = plotOf(shareFigure);
    legend(shareFigure, now.backends.map((b) => ({ mark: b.mark, name: `${b.letter} ${b.name}` })));
    const fill = (b) => () => (b.hatched ? hatch(b.colour) : b.colour);
    const steps = uPlot.paths.stepped({ align: 1 });
    return new uPlot({
      ...common(box),
      scales: { x: { time: false, range: () => [0, endOf(now.runs)] }, y: { range: [0, 1] } },
      axes: [timeAxis(), axis({ size: 54, gap: 4, splits: () => [0, 0.25, 0.5, 0.75, 1], values: (_, list) => list.map(percent) })],
      // The first backend's band reaches down to zero as a fill, each other one's down to the band before it.
      series: [{}, ...now.backends.map((b, i) => ({
        label: b.name, paths: steps, width: 1, stroke: () => colours.panel, points: { show: false }, fill: i ? undefined : fill(b),
      }))],
      bands: now.backends.slice(1).map((b, i) => ({ series: [i + 2, i + 1], fill: fill(b) })),
      hooks: {
        draw: [drawLetters, drawEvents],
        setCursor: [values(shareFigure, (i, w) => {
          const before = i ? now.run.stacked[i - 1][w] : 0;
          return shown(now.run.stacked[i]?.[w] - before, (v) => `${(v * 100).toFixed(1)}%`);
        })],
      },
    }, shareData(), box);
  };
  const shareData = () => {
    const { run } = now;
    const times = gaps(run.start);
    if (run.windows) times.push(run.start[run.windows - 1] + run.seconds);
    return [times, ...run.stacked.map(stepped)];
  };

  // The second six backends are dashed here, as they are hatched there.
  const makeInflight = () => {
    const box = plotOf(inflightFigure);
    legend(inflightFigure, now.backends.map((b) => ({ mark: b.mark, name: `${b.letter} ${b.name}` })));
    return new uPlot({
      ...common(box),
      scales: { x: { time: false, range: () => [0, endOf(now.runs)] }, y: { range: () => [0, topOf(now.runs)] } },
      axes: [timeAxis(), axis({ size: 54, gap: 4, space: 26 })],
      series: [{}, ...now.backends.map((b) => ({
        label: b.name, width: 1.75, stroke: b.colour, dash: b.hatched ? [6, 3] : [], points: { show: false },
      }))],
      hooks: {
        draw: [drawEvents],
        setCursor: [values(inflightFigure, (i, w) => shown(now.run.inFlight[i][w], inFlight))],
      },
    }, inflightData(), box);
  };
  const inflightData = () => [gaps(now.run.start), ...now.run.inFlight.map(gaps)];
  const inFlight = (v) => String(+v.toPrecision(3));
  const topOf = (runs) => {
    let top = 0;
    for (const run of runs) for (const column of run.inFlight) for (const v of column) if (v > top) top = v;
    return round125(Math.max(top, 1), true);
  };

  let latency = null, share = null, inflight = null, drawnBackends = "";

  const draw = () => {
    const key = JSON.stringify(now.backends);
    if (!latency) latency = makeLatency();
    else latency.setData(latencyData());
    if (!share || key !== drawnBackends) {
      share?.destroy();
      inflight?.destroy();
      share = makeShare();
      inflight = makeInflight();
      drawnBackends = key;
    } else {
      share.setData(shareData());
      inflight.setData(inflightData());
    }
    fillTables();
  };

  // Tables are written only while they are open: they are for reading, and cost more than the charts.
  const table = (figure, heads, row) => {
    const details = figure.querySelector("details.table");
    if (!details.open || !now) return;
    const line = (cells, kind) => {
      const tr = document.createElement("tr");
      cells.forEach((text, i) => {
        const cell = document.createElement(i ? kind : "th");
        cell.textContent = text;
        cell.scope = kind === "th" ? "col" : i ? "" : "row";
        tr.append(cell);
      });
      return tr;
    };
    const element = document.createElement("table"), head = document.createElement("thead"), body = document.createElement("tbody");
    head.append(line(heads, "th"));
    for (let w = 0; w < now.run.windows; w++) body.append(line(row(w), "td"));
    element.append(head, body);
    details.querySelector(".scroll").replaceChildren(element);
  };
  const fillTables = () => {
    table(latencyFigure, ["from", "p50", "p95", "p99", "answered", "errors"], (w) => [seconds(now.run.start[w]),
      ...now.run.percentiles.map((p) => shown(p[w], milliseconds)), String(now.run.answered[w]), String(now.run.errors[w])]);
    table(inflightFigure, ["from", ...now.backends.map((b) => b.name)], (w) => [seconds(now.run.start[w]),
      ...now.run.inFlight.map((column) => shown(column[w], inFlight))]);
    table(shareFigure, ["from", ...now.backends.map((b) => b.name)], (w) => [seconds(now.run.start[w]),
      ...now.run.stacked.map((s, i) => shown(s[w] - (i ? now.run.stacked[i - 1][w] : 0), (v) => `${(v * 100).toFixed(1)}%`))]);
  };
  for (const figure of [latencyFigure, shareFigure, inflightFigure]) {
    figure.querySelector("details.table").addEventListener("toggle", fillTables);
  }

  const again = () => {
    colours = theme();
    hatches = new Map();
    plots().forEach(([plot]) => plot.redraw(false));
  };
  const plots = () => [[latency, latencyFigure], [share, shareFigure], [inflight, inflightFigure]].filter(([plot]) => plot);
  darkness.addEventListener("change", again);
  const observer = new ResizeObserver(() => plots().forEach(([plot, figure]) => plot.setSize(size(plotOf(figure)))));
  [latencyFigure, shareFigure, inflightFigure].forEach((figure) => observer.observe(plotOf(figure)));

  // show is the one entry: a Float64Array, the policy's place in it, and JSON with backends and events.
  globalThis.minilbCharts = {
    show(packed, index, meta) {
      const runs = cut(packed);
      if (!runs[index]) return;
      now = { runs, run: runs[index], ...JSON.parse(meta) };
      draw();
    },
  };
})();
