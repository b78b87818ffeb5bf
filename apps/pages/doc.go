// Package pages has only tests: agents' tasks in web pages, with widgets as pages have them today.
//
// A file of testdata/tasks is a page. The comment at its beginning holds its tasks: a goal, the state of the page that
// a right end has, the calls of an agent with the gateway (devtools: by DevTools, if they are others), and those of an
// agent with playwright-mcp. The page posts its state to the test's server, which neither of them knows.
//
// AAI_PAGES=all runs all tasks in every way and prints their figures (make test-apps; it needs scripts/need-widgets and
// scripts/need-peers), otherwise a few of them run by DevTools. AAI_PAGES_WAY names one way, AAI_PAGES_ONLY a page or a
// goal, AAI_APPS_GATEWAY a built gateway, and AAI_PAGES_SAY=1 prints every call.
package pages
