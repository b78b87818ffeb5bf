// Package web is the door for people at a browser: a dashboard that shows active calls, the journal
// and consents, and stops calls. It only makes calls: pages show answers of tools of the gateway's
// own app, and buttons call such tools. So the terminal can do the same, and the journal records
// both. Pages read no files and ask no questions: the gateway asks for consents, logins and wider
// settings in its own window, or at the terminal at which this door was opened.
//
// [AnnounceDashboard] tells other gateways the dashboard's address. [ToolForm] makes a form of a
// tool's parameters.
//
// # To add a page
//
// The files of a page x, which no other page shares:
//
//   - x.go: the data that it shows (a function as in the rows of [pages]) and its acts;
//   - templates/x.html: {{define "content"}}…{{end}}, the part of the document within <main>;
//   - words/x.en.json and words/x.zh.json: its texts, with the same keys. "title" is required,
//     and "nav" for a page of the navigation. English may also have a key with the suffix
//     ".one", which {{t "count" 1}} uses for the singular;
//   - one row in the table of pages (pages.go).
//
// A page's show function gets a [pageRequest]: v.read calls a tool of the gateway's own app and
// decodes its data into a Go value; v.query holds the parameters of the address. Its result is .Data
// of the template; if that is about one thing, it has a method Subject, and the title names the
// thing. Acts use v.form and v.call, and report their outcome with v.setNotice. Then the browser is
// sent to the page again, so that a reload does not act twice. An act with a result to show returns
// it, and the page shows it as .Done.
//
// Templates have {{t "key"}} and {{t "key" arg}} (the page's texts, then the layout's), {{.Csrf}}
// within each form of method post, {{when .Time}} for times, and {{stranger .Text}} for text that an
// app, a site or a caller wrote: it is shown as text, with invisible characters escaped, and marked
// as foreign. A page must work without scripts. With scripts, a page with event kinds in "live"
// reloads its content after such events (events.go) and merges it, so that focus and scroll position
// stay. A form in it needs an id and the attribute hx-morph-skip to keep its input. A search form
// that changes the page and not its address is named in searchForm.
package web
