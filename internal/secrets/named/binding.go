package named

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// Limits of the texts of a secret, in bytes.
const (
	maxName  = 64
	maxPlace = 300
)

// CheckName returns an error for a text that is no name of a secret.
func CheckName(name string) error {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", r)) {
			name = ""
			break
		}
	}
	if name == "" || len(name) > maxName {
		return aai.Errorf(aai.InvalidParams, "name: expected up to %d letters, digits, dots, hyphens and underscores, beginning with a letter or digit", maxName)
	}
	return nil
}

// parseBinding returns the binding to a target, which is a web origin or the id of an app.
func parseBinding(target, field string) (aai.SecretBinding, error) {
	b := aai.SecretBinding{Field: strings.TrimSpace(field)}
	target = strings.TrimSpace(target)
	if !isPlain(target) || target == "" || !isPlain(b.Field) {
		return b, aai.Errorf(aai.InvalidParams, "for: expected an app's id or a web origin such as https://github.com, and as field one line of at most %d bytes", maxPlace)
	}
	if strings.HasPrefix(target, aai.PagePrefix) || !strings.Contains(target, "://") {
		b.App = target
		return b, nil
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return b, aai.Errorf(aai.InvalidParams, "for: expected a web origin without a path, such as https://github.com, got %s", aai.CleanLabel(target, 100))
	}
	host, err := netguard.ParseHost(u.Host)
	if err != nil {
		return b, aai.Errorf(aai.InvalidParams, "for: %s: %w", aai.CleanLabel(u.Host, 100), err)
	}
	name := host.Name()
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port := u.Port(); port != "" {
		name += ":" + port
	}
	u.Host = name
	b.Origin = netguard.Origin(u)
	return b, nil
}

// isPlain reports whether the text is one short line without invisible characters.
func isPlain(text string) bool {
	return len(text) <= maxPlace && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// originOf returns the web origin of the address of a document; "" if it has none.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return netguard.Origin(u)
}

// check returns an error unless the place is that of the binding.
func check(use aai.SecretUse, at aai.SecretPlace) error {
	b := use.Binding
	switch origin := originOf(at.Address); {
	case at.Argument != "":
		if b.App == "" || b.App != at.App {
			return foreign(use, "the app "+aai.CleanLabel(at.App, 100))
		}
		if b.Field != "" && b.Field != at.Argument {
			return foreign(use, "the argument "+aai.CleanLabel(at.Argument, 60))
		}
		return nil
	case at.InPage && origin == "":
		return foreign(use, "a document whose web address the program does not report")
	case at.InPage && b.Origin != origin:
		return foreign(use, "a document of "+aai.CleanLabel(origin, 100))
	case !at.InPage && (b.App == "" || b.App != at.App):
		return foreign(use, "the program "+aai.CleanLabel(at.App, 100)+", outside of any page")
	}
	return checkField(use, at)
}

// checkField returns an error unless the field of a window is that of the binding.
func checkField(use aai.SecretUse, at aai.SecretPlace) error {
	field := use.Binding.Field
	switch {
	case !at.IsText:
		return foreign(use, "an element that takes no text")
	case field != "":
		role, name, hasRole := strings.Cut(field, ":")
		byRole := hasRole && strings.EqualFold(role, at.Role) && sameName(name, at.Name)
		if byRole || at.ID != "" && field == "#"+at.ID || at.Name != "" && sameName(field, at.Name) {
			return nil
		}
		return foreign(use, "another field than "+aai.CleanLabel(field, 60))
	case use.IsCode, at.IsPassword:
		return nil
	}
	return foreign(use, "a field that is no password field")
}

// sameName reports whether two names of fields look the same to people.
func sameName(a, b string) bool {
	trim := func(s string) string { return strings.TrimRight(strings.TrimSpace(s), " :*") }
	return strings.EqualFold(trim(a), trim(b))
}

// foreign returns the error for a secret that is bound to another place.
func foreign(use aai.SecretUse, place string) error {
	to := use.Binding.Target()
	if use.Binding.Field != "" {
		to += ", field " + use.Binding.Field
	}
	e := aai.Errorf(aai.PermissionDenied, "the secret %s is bound to %s and was not filled into %s", use.Name, aai.CleanLabel(to, maxPlace), place)
	e.Delivery = aai.NotDelivered
	e.Hint = "The tool secrets lists the secrets and their places. Only the person can bind one to another place: aai-gateway secret set."
	return e
}
