package programs

import "testing"

// A page is known by whatever way a browser shows it: its source, or what of it is to be read,
// has an address of another form, and the same content.
func TestAddressesOfTheOwnPage(t *testing.T) {
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
		if got := isOf(hosts, address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
