package doctor

import (
	"regexp"
	"strings"
)

// redactor returns a function that makes a text safe to share: web addresses lose login and
// query, addresses of buses and screens keep only their type.
func (d *Doctor) redactor() func(text string) string {
	var pairs []string
	add := func(value, instead string) {
		if len(value) > 1 && value != instead {
			pairs = append(pairs, value, instead)
		}
	}
	web := regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"<>` + "`" + `]*`)
	// A key and its value; an address may have several pairs, and there may be several addresses.
	bus := regexp.MustCompile(`\b((?:unix|unixexec|tcp|nonce-tcp|vsock|launchd|systemd|autolaunch):[a-z0-9]+=)[^\s"']*`)
	for _, address := range d.variableValues("DBUS_SESSION_BUS_ADDRESS") {
		if kind := bus.FindStringSubmatch(address); kind != nil {
			add(address, kind[1]+"…")
		} else {
			add(address, "…")
		}
		for _, key := range []string{"path=", "abstract="} { // commands may name the socket itself
			if _, value, ok := strings.Cut(address, key); ok {
				value, _, _ = strings.Cut(value, ",")
				add(value, "…")
			}
		}
	}
	for _, display := range d.variableValues("DISPLAY") {
		host, _, _ := strings.Cut(display, ":")
		if host != "" {
			add(display, "…"+display[len(host):])
		}
	}
	exact := strings.NewReplacer(pairs...)
	return func(text string) string {
		return bus.ReplaceAllString(web.ReplaceAllStringFunc(exact.Replace(text), addressWithoutLogin), "$1…")
	}
}

// variableValues returns a variable's value in the environment and the value that the gateway found.
func (d *Doctor) variableValues(name string) (values []string) {
	if d.cfg.Getenv != nil {
		values = append(values, d.cfg.Getenv(name))
	}
	if d.facts.gatewayCheck != nil {
		found, _ := d.facts.gatewayCheck() // without a check there is none
		values = append(values, found.value(name), found.Session.Passed)
	}
	return values
}

// addressWithoutLogin returns a web address without login, query and fragment. If the parts
// cannot be separated, as in a truncated address, it returns only the scheme.
func addressWithoutLogin(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	end := strings.IndexAny(rest, `/?#\`)
	if end < 0 {
		end = len(rest)
	}
	host, path := rest[:end], rest[end:]
	login := strings.LastIndexByte(host, '@')
	host = host[login+1:]
	if at := strings.IndexAny(path, "?#"); at >= 0 {
		path = path[:at]
	}
	_, port, hasPort := strings.Cut(host[strings.LastIndexByte(host, ']')+1:], ":")
	if hasPort && (strings.Trim(port, "0123456789") != "" || login < 0 && strings.Contains(rest, "@")) {
		return scheme + "://…"
	}
	return scheme + "://" + host + path
}
