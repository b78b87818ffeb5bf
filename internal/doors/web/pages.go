package web

// A page is one row of the table of pages.
type page struct {
	name string // of its template and its words
	path string // as http.ServeMux reads it, such as "/history/{call}"
	nav  bool   // it stands in the navigation
	// live are the kinds of news at which a page that is shown is brought up to date.
	live []string
	// searchForm is the form whose fields say, in the place of the address, what of the page is
	// shown: with scripts it changes the page and not its address. It has that in its address.
	searchForm string
	// show returns what the template gets as .Data.
	show func(v *pageRequest) (any, error)
	// acts are what its buttons do: a form posts to the page's path, "/" and the name.
	acts map[string]act
}

// An act does what a button says. Without something to show the browser is sent to the
// address that v.next names, or to the page again.
type act func(v *pageRequest) (done any, err error)

// pages are all of them, in the order of the navigation. The first is the front page.
func pages() []page {
	return []page{
		activeCallsPage(),
		appsPage(), appPage(), toolPage(), lintPage(), integrationsPage(),
		historyPage(), storyPage(), chartsPage(),
		consentPage(), loginsPage(),
		settingsPage(), settingPage(),
		doctorPage(),
	}
}
