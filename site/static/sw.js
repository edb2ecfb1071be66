// The service worker: keeps one version of the site for when there is no network.
//
// A page is asked for over the network first, so a new build is seen at once; its files carry their version in the query
// (?v=…), so those of this version come from here and those of another from the network. A new version installs beside
// the old one, whole or not at all, and removes the old one when it takes over.
"use strict";
const version = "VERSION"; // a digest of all files, put here by scripts/site.sh
const files = ["FILES"];
const ours = `minilb ${registration.scope} `;
const current = ours + version;
const patience = 3000; // ms for a network that neither answers nor fails

const versioned = (name) => (/\.html$/.test(name) || name === "./" ? name : `${name}?v=${version}`);

addEventListener("install", (event) => {
  event.waitUntil(caches.open(current).then((cache) => cache.addAll(["./", ...files].map(versioned))));
  skipWaiting();
});

addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith(ours) && name !== current) await caches.delete(name);
    }
    await clients.claim();
  })());
});

const kept = async (request) => (await caches.open(current)).match(request, { ignoreVary: true });

const page = async (request) => {
  const own = request.url.split(/[?#]/)[0].replace(/\/index\.html$/, "/");
  const late = new Promise((_, reject) => { setTimeout(() => reject(new Error("no answer")), patience); });
  try {
    return await Promise.race([fetch(request), late]);
  } catch (error) {
    const copy = await kept(own);
    if (copy) return copy;
    throw error;
  }
};

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(registration.scope)) return;
  if (request.mode === "navigate") event.respondWith(page(request));
  else event.respondWith(kept(request).then((copy) => copy ?? fetch(request)));
});
