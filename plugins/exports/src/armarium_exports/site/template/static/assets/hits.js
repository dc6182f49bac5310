// Words that were searched for (?words=) are shown on the picture where they stand.
const plain = (text) => text.normalize("NFD").replace(/[^\p{L}\p{N} ]/gu, "").toLowerCase();
const sought = plain(new URLSearchParams(location.search).get("words") || "").split(" ").filter(Boolean);
const hits = [...document.querySelectorAll("polygon.word")].filter((one) =>
  // Pagefind finds words by their beginnings.
  sought.some((word) => plain(one.dataset.word).startsWith(word)));
for (const one of hits) one.classList.add("hit");
if (hits.length) hits[0].scrollIntoView({ block: "center" });
