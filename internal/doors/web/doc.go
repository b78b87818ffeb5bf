// Package web is the door for people at a browser: a page that shows what runs, what ran,
// who may, and that stops it. Like every door it only makes calls: what a page shows are
// answers of the tools of the gateway's own app, and what a button does is a call of such a
// tool, so the terminal can do all of it too and both are on record. A page reads no files
// and asks nobody: what grants, widens, logs in or runs is asked in a window of the
// gateway's own, or at the terminal at which this door was opened.
//
// # To add a page
//
// A page x is made of its own files, so that two pages never meet in one:
//
//   - x.go: what it shows (a function as [pageOf]'s rows name) and what its buttons do;
//   - templates/x.html: {{define "content"}}…{{end}}, the part of the document within <main>;
//   - words/x.en.json and words/x.zh.json: its texts, with the same keys; "title" and, for a
//     page of the navigation, "nav" must be there. English has a key with ".one" too for a
//     text that says of one what it does not say of others: {{t "count" 1}} takes it;
//   - one row in the table of pages (pages.go).
//
// A page's show function gets a [pageRequest]: v.read calls a tool of the own app and fills a Go
// value from the answer's data; v.query are the parameters of the address. What it returns
// is .Data of the template; where that is about one thing it has a method Subject, and the
// title names the thing. Its acts get v.form, call v.call and say with v.say what came
// of it; then the browser is sent to the page again, so that a reload does not act twice.
// An act that has something to show returns it, and the page is shown with it as .Done.
//
// Templates have {{t "key"}} and {{t "key" arg}} (the page's words, then the layout's),
// {{.Csrf}} within each form of method post, {{when .Time}} for times, {{stranger .Text}}
// for a name, an argument or an answer that an app, a site or a caller wrote: it is shown
// as text, with what cannot be seen made visible, and marked as theirs. A page must do
// without scripts all that it does with them. With them, a page whose row names kinds of
// news under "live" has its content loaded again when such news come (live.go), and put into
// the one that is shown so that focus and place stay; a form in it needs an id and the
// attribute hx-morph-skip, so that what was typed stays too. A search form that
// changes the page and not its address is named by the row under "finds".
package web
