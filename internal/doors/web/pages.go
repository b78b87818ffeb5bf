package web

// A page is one row of the table of pages.
type page struct {
	name string // of its template and its texts
	path string // in the syntax of http.ServeMux, such as "/history/{call}"
	nav  bool   // it is in the navigation
	// live lists the kinds of events after which an open page reloads its content.
	live []string
	// searchForm selects the form with the query of the page. With scripts it changes the
	// page without changing the address; reloads take the query from the form.
	searchForm string
	// show returns .Data of the template.
	show func(v *pageRequest) (any, error)
	// acts are the acts of its buttons, by name: a form posts to the page's path, "/" and the name.
	acts map[string]act
}

// An act performs the act of a button. If done is nil, the browser is sent to v.next, or to
// the page again.
type act func(v *pageRequest) (done any, err error)

// pages lists all pages, in the order of the navigation. The first is the front page.
func pages() []page {
	return []page{
		activeCallsPage(), desktopPage(), eventsPage(),
		appsPage(), appPage(), toolPage(), lintPage(), integrationsPage(), scanPage(),
		historyPage(), storyPage(), chartsPage(),
		recordingsPage(), stepsPage(),
		consentPage(), loginsPage(),
		settingsPage(), settingPage(),
		doctorPage(),
	}
}
