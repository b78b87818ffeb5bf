package programs

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The dashboard is recognized in every form of address: a browser's source or reader view has the
// same content.
func TestAddressesOfTheDashboard(t *testing.T) {
	hosts := []string{"aai-x7.localhost:3000"}
	for address, want := range map[string]bool{
		"http://aai-x7.localhost:3000/":                                                         true,
		"HTTP://AAI-X7.localhost:3000/history?text=a":                                           true,
		"view-source:http://aai-x7.localhost:3000/history":                                      true,
		"about:reader?url=http%3A%2F%2Faai-x7.localhost%3A3000%2Fhistory":                       true,
		"about:reader?url=view-source%3Ahttp%253A%252F%252Faai-x7.localhost%253A3000":           true,
		"chrome-distiller://9_ab/?title=History&url=http%3A%2F%2Faai-x7.localhost%3a3000%2Fnow": true,
		"blob:http://aai-x7.localhost:3000/0e1d":                                                true,
		"http://localhost:3000/":                                                                false,
		"http://aai-x8.localhost:3000/":                                                         false,
		"about:blank":                                                                           false,
		"":                                                                                      false,
		"http://example.com/%zz":                                                                false,
	} {
		assert.Check(t, is.Equal(isDashboardAddress(hosts, address), want), address)
	}
}

// showing is a program with documents at these addresses.
type showing struct {
	desktop.Tree
	addresses []string
}

func (s showing) Snapshot(_ context.Context, app desktop.App) (*desktop.Snapshot, error) {
	shot := &desktop.Snapshot{App: app}
	for range s.addresses {
		shot.Elements = append(shot.Elements, desktop.Element{Role: desktop.Document})
	}
	return shot, nil
}

func (s showing) Addresses(context.Context, desktop.App, []desktop.ID) ([]string, error) {
	return s.addresses, nil
}

// A browser tool that shows another window lacks its address. While there is a dashboard, that
// browser is left alone, and other programs are not.
func TestToolsOfABrowserMayShowTheDashboard(t *testing.T) {
	for address, left := range map[string]bool{
		"devtools://devtools/bundled/devtools_app.html?can_dock=true": true, "chrome://inspect/#devices": true, "chrome://print/": true,
		"chrome-untrusted://print/1/0/print.pdf": true, "about:devtools-toolbox?id=7&type=tab": true, "ABOUT:printpreview": true,
		"https://example.com/devtools:": false, "about:blank": false, "chrome://new-tab-page/": false,
	} {
		for _, browser := range []bool{true, false} {
			hosts := []string{"aai-x7.localhost:3000"}
			s := showing{addresses: []string{"https://example.com/", address}}
			r := &Registry{OpenBackend: func() desktop.Backend { return desktop.Backend{Tree: s, Documents: s} }, DashboardHosts: func() ([]string, error) { return hosts, nil }}
			app := desktop.App{ID: "x", Key: "k", Profile: desktop.Profile{IsBrowser: browser}}
			what := r.dashboardReason(t.Context(), app)
			assert.Check(t, is.Equal((what != ""), (left && browser)), "%s %v %q", address, browser, what)
			hosts = nil
			assert.Check(t, is.Equal(r.dashboardReason(t.Context(), app), ""), "%s: there is no such page, and it is left alone", address)
		}
	}
}
