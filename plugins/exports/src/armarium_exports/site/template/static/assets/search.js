// Search without a server: the index that Pagefind made when the site was built.
const form = document.getElementById("search");
const outcome = document.getElementById("outcome");
const found = document.getElementById("found");
try {
  const pagefind = await import(new URL("../pagefind/pagefind.js", import.meta.url).href);
  document.getElementById("plain").remove();
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    found.replaceChildren();
    const words = document.getElementById("words").value.trim();
    if (!words) return;
    const answer = await pagefind.search(words);
    outcome.textContent = answer.results.length === 1 ? "1 page." : `${answer.results.length} pages.`;
    for (const result of answer.results.slice(0, 100)) {
      const data = await result.data();
      const item = document.createElement("li");
      const link = document.createElement("a");
      const address = new URL(data.url, location.href);
      address.searchParams.set("words", words);
      link.href = address;
      link.textContent = data.meta.title || data.url;
      const excerpt = document.createElement("p");
      excerpt.innerHTML = data.excerpt;
      item.append(link, excerpt);
      found.append(item);
    }
  });
} catch {
  outcome.textContent = "The search index is not here: build the site with npm run build.";
}
