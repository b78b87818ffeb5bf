package catalog

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/gybob/aai-gateway"
)

// Limits on the authentication in a descriptor.
const (
	maxScopes       = 50
	maxScope        = 200 // bytes
	maxCookies      = 20
	maxFurtherKeys  = 9
	maxClientID     = 512 // bytes
	maxInstructions = 600 // bytes
	maxTokenLife    = 365 * 24 * time.Hour
)

// auth reads the authentication of a web app: {"type": T, T: {…}} by the protocol's security
// page, or the members of T beside "type", by the protocol's first version. It returns nil if
// there is none.
func (p *parser) auth(n *node, base string) *aai.AuthRecipe {
	if n == nil {
		return nil
	}
	m := p.members(n, ` such as {"type": "oauth2", "oauth2": {…}}`)
	if n.Kind != object {
		return nil
	}
	p.secrets(n)
	kind := m.word("type", "oauth2", "apiKey", "api_key", "appCredential", "app_credential", "cookie", "bearer")
	if kind == "" {
		if n.Member("type") == nil {
			p.fault(m.pathOf("type"), "missing; expected a type such as \"oauth2\"")
		}
		return nil
	}
	a := &aai.AuthRecipe{Kind: kind}
	key, read, needs := kind, p.oauth2, `"authorization_endpoint" and "token_endpoint"`
	switch kind {
	case "apiKey", "api_key":
		a.Kind, key, read, needs = aai.AuthAPIKey, "api_key", p.apiKey, `"location" and "name"`
	case "appCredential", "app_credential":
		a.Kind, key, read, needs = aai.AuthAppCredential, "app_credential", p.appCredential,
			`"token_endpoint" and "token_type"`
	case "cookie":
		read, needs = func(m *members, a *aai.AuthRecipe) { p.cookie(m, a, base) }, `"login_url" and "required_cookies"`
	case "bearer":
		read, needs = p.bearer, ""
	}
	form := m
	if given := m.take(key); given != nil {
		form = p.members(given, " with "+needs)
	} else if needs != "" && n.Count() == 1 {
		p.fault(m.pathOf(key), "missing; expected an object with %s", needs)
		return a
	}
	read(form, a)
	p.instructions(form, a)
	if form != m {
		form.unknown()
	}
	m.unknown()
	return a
}

// secrets reports a fault for a secret in the descriptor, because descriptors are public.
func (p *parser) secrets(n *node) {
	for c := n.First; c != nil; c = c.Next {
		if c.Index() < 0 && (c.Kind == text || c.Kind == number) && isSecretName(c.Name) {
			c.Mark = true
			p.fault(c.Path(), "is a secret; a descriptor is public and may not have one: the person gives it to the gateway")
		}
		p.secrets(c)
	}
}

// isSecretName reports whether a member of "auth" with this name would hold a secret.
func isSecretName(name string) bool {
	switch strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name)) {
	case "clientsecret", "appsecret", "secret", "secretkey", "password", "passwd", "accesstoken",
		"refreshtoken", "idtoken",
		"token", "privatekey", "apikey", "key", "value", "credential", "credentials", "bearer", "cookie", "authorization":
		return true
	}
	return false
}

// oauth2 reads OAuth 2.1: the protocol's names, those of RFC 8414 and RFC 8628, and "auth_url"
// and "token_url" of the protocol's first version.
func (p *parser) oauth2(m *members, a *aai.AuthRecipe) {
	const needed = "OAuth 2.1 needs it"
	a.AuthorizationEndpoint = p.endpoint(m, needed, "authorization_endpoint", "auth_url")
	a.TokenEndpoint = p.endpoint(m, needed, "token_endpoint", "token_url")
	a.DeviceEndpoint = p.endpoint(m, "", "device_authorization_endpoint", "device_endpoint")
	a.RevocationEndpoint = p.endpoint(m, "", "revocation_endpoint", "revocation_url")
	a.ClientID = m.text("client_id")
	if !printable(a.ClientID) || len(a.ClientID) > maxClientID {
		p.fault(m.pathOf("client_id"), "is %q; expected at most %d ASCII characters",
			aai.CleanLabel(a.ClientID, maxName), maxClientID)
	}
	a.Scopes = p.scopes(m)
	a.Also = p.furtherKeys(m)
	if pkce := m.take("pkce"); pkce != nil {
		method := p.members(pkce, ` such as {"method": "S256"}`)
		a.PKCE = method.word("method", "S256")
		method.unknown()
	}
	if m.word("token_placement", "header", "query") == "query" {
		p.fault(m.pathOf("token_placement"), `is "query"; expected "header": an address is no place for a token (OAuth 2.1, section 5.1)`)
	}
	m.text("token_prefix") // of the first version; RFC 6750 defines it as "Bearer"
}

// scopes reads a list of scopes, or a string of them separated by spaces.
func (p *parser) scopes(m *members) []string {
	n := m.take("scopes", "scope")
	if n == nil {
		return nil
	}
	if n.Kind == text {
		list := strings.Fields(n.Text)
		if len(list) == 0 {
			return nil
		}
		if len(list) > maxScopes {
			p.fault(n.Path(), "has %d scopes; expected at most %d", len(list), maxScopes)
			return nil
		}
		for _, scope := range list {
			p.scope(n.Path(), scope)
		}
		return list
	}
	list := p.words(n, "scope", maxScopes)
	for i, scope := range list {
		p.scope(joinPath(n.Path(), "", i), scope)
	}
	return list
}

// scope checks a scope-token of RFC 6749, section 3.3.
func (p *parser) scope(path, scope string) {
	if scope == "" || len(scope) > maxScope || !printable(scope) || strings.ContainsAny(scope, ` "\`) {
		p.fault(path, "is %q; expected a scope of at most %d ASCII characters without spaces",
			aai.CleanLabel(scope, maxName), maxScope)
	}
}

// words reads a list of strings.
func (p *parser) words(n *node, what string, most int) []string {
	if n.Kind != list {
		p.fault(n.Path(), "is %s; expected a list of %ss", n.KindName(), what)
		return nil
	}
	if n.Count() > most {
		p.fault(n.Path(), "has %d %ss; expected at most %d", n.Count(), what, most)
		return nil
	}
	var words []string
	for c := n.First; c != nil; c = c.Next {
		if c.Kind != text {
			p.fault(c.Path(), "is %s; expected a %s", c.KindName(), what)
			return nil
		}
		words = append(words, c.Text)
	}
	return words
}

// apiKey reads an API key scheme: "location" and "name", or "key_placement" and "key_name" of the
// first version.
func (p *parser) apiKey(m *members, a *aai.AuthRecipe) {
	a.In = p.placement(m, "location", "key_placement")
	if a.In == "" && m.take("location", "key_placement") == nil {
		p.fault(m.pathOf("location"), `missing; expected "header" or "query"`)
	}
	a.Name = m.must(`expected the name of the header or of the query parameter`, "name", "key_name")
	p.carrier(m.pathOf("name", "key_name"), a)
	a.Prefix = p.prefix(m, "prefix")
	a.Also = p.furtherKeys(m)
	a.EnvVar = p.variable(m)
	a.ObtainURL = p.endpoint(m, "", "obtain_url")
}

// furtherKeys reads the places of keys that every request carries beside the first one.
func (p *parser) furtherKeys(m *members) []aai.KeyPlace {
	n := m.take("also")
	if n == nil {
		return nil
	}
	if n.Kind != list || n.Count() > maxFurtherKeys {
		p.fault(n.Path(), "expected a list of at most %d keys, such as {\"location\": \"header\", \"name\": \"X-Key\"}", maxFurtherKeys)
		return nil
	}
	var keys []aai.KeyPlace
	for c := n.First; c != nil; c = c.Next {
		key := p.members(c, ` such as {"location": "header", "name": "X-Key"}`)
		one := &aai.AuthRecipe{In: p.placement(key, "location"), Name: key.must("expected the name of the header or of the query parameter", "name"),
			Prefix: p.prefix(key, "prefix")}
		p.carrier(key.pathOf("name"), one)
		if one.In == "" {
			p.fault(key.pathOf("location"), `missing; expected "header" or "query"`)
		}
		key.unknown()
		keys = append(keys, one.Keys()...)
	}
	return keys
}

// bearer reads a bearer token scheme (RFC 6750).
func (p *parser) bearer(m *members, a *aai.AuthRecipe) {
	a.In, a.Name, a.Prefix = "header", "Authorization", "Bearer "
	if p.placement(m, "token_placement", "location") == "query" {
		a.In, a.Name, a.Prefix = "query", "access_token", ""
	}
	if m.has("token_prefix", "prefix") {
		a.Prefix = p.prefix(m, "token_prefix", "prefix")
	}
	a.Also = p.furtherKeys(m)
	a.EnvVar = p.variable(m)
	a.ObtainURL = p.endpoint(m, "", "obtain_url")
}

// appCredential reads the scheme that exchanges the person's app id and secret for tokens.
func (p *parser) appCredential(m *members, a *aai.AuthRecipe) {
	a.TokenEndpoint = p.endpoint(m, "an app credential needs it", "token_endpoint", "token_url")
	kinds := []string{"tenantAccessToken", "appAccessToken", "userAccessToken"}
	given := m.must("expected "+oneOf(kinds), "token_type")
	for _, kind := range kinds {
		if given == kind || isCamel(kind, given) {
			a.TokenType = kind
		}
	}
	if given != "" && a.TokenType == "" {
		p.fault(m.pathOf("token_type"), "is %q; expected %s", aai.CleanLabel(given, maxName), oneOf(kinds))
	}
	a.ExpiresIn = p.life(m.take("expires_in"))
	a.ObtainURL = p.endpoint(m, "", "obtain_url")
}

// life reads the lifetime of a token, in seconds.
func (p *parser) life(n *node) time.Duration {
	const usual = 2 * time.Hour
	if n == nil {
		return usual
	}
	seconds, err := strconv.Atoi(n.Text)
	if n.Kind != number || err != nil || seconds < 1 || seconds > int(maxTokenLife/time.Second) {
		p.fault(n.Path(), "is %s; expected 1 to %d seconds", quoteScalar(n), int(maxTokenLife/time.Second))
		return usual
	}
	return time.Duration(seconds) * time.Second
}

// cookie reads the names of the session cookies that an app needs.
func (p *parser) cookie(m *members, a *aai.AuthRecipe, base string) {
	a.LoginURL = p.endpoint(m, "people log in there", "login_url")
	n := m.take("required_cookies", "cookies")
	if n == nil || n.First == nil {
		p.fault(m.pathOf("required_cookies"), "missing; expected the names of the cookies that are needed")
	} else {
		a.Cookies = p.words(n, "cookie name", maxCookies)
	}
	for i, name := range a.Cookies {
		if !validHeader(name) || len(name) > maxScope {
			p.fault(joinPath(n.Path(), "", i), "is %q; expected a cookie's name", aai.CleanLabel(name, maxName))
		}
	}
	host := hostname(base)
	a.Domain = strings.ToLower(strings.TrimPrefix(m.text("domain"), "."))
	if a.Domain == "" {
		a.Domain = host
	}
	if suffix, _ := publicsuffix.PublicSuffix(a.Domain); a.Domain != host &&
		(suffix == a.Domain || !strings.HasSuffix(host, "."+a.Domain)) {
		p.fault(m.pathOf("domain"), "is %q; expected %q or a parent domain of the app: cookies go only to their own site",
			aai.CleanLabel(a.Domain, maxName), aai.CleanLabel(host, maxName))
	}
}

// instructions reads how to get the credentials: a text, or {"short", "help_url"}.
func (p *parser) instructions(m *members, a *aai.AuthRecipe) {
	n := m.take("instructions")
	switch {
	case n == nil:
	case n.Kind == object:
		o := p.members(n, "")
		a.Instructions = aai.CleanText(o.text("short"), maxInstructions)
		if help := p.endpoint(o, "", "help_url"); a.ObtainURL == "" {
			a.ObtainURL = help
		}
		o.unknown()
	case n.Kind == text:
		a.Instructions = aai.CleanText(n.Text, maxInstructions)
	default:
		p.fault(n.Path(), "is %s; expected words for people", n.KindName())
	}
}

// endpoint reads a URL. needed is the reason why it is required, or "" if it is optional.
func (p *parser) endpoint(m *members, needed string, names ...string) string {
	address := ""
	if needed != "" {
		address = m.must(needed, names...)
	} else {
		address = m.text(names...)
	}
	if address == "" {
		return ""
	}
	if !secureEndpoint(address) {
		p.fault(m.pathOf(names...), "is %q; expected an https URL", aai.CleanLabel(address, 2*maxName))
		return ""
	}
	p.reachable(m.pathOf(names...), address)
	return address
}

// placement reads the place of a secret in requests.
func (p *parser) placement(m *members, names ...string) string {
	in := m.text(names...)
	if in != "" && in != "header" && in != "query" {
		p.fault(m.pathOf(names...), `is %q; expected "header" or "query"`, aai.CleanLabel(in, maxName))
	}
	return in
}

// carrier checks the name of the header or query parameter that carries a secret.
func (p *parser) carrier(path string, a *aai.AuthRecipe) {
	switch {
	case a.Name == "":
	case !validHeader(a.Name) || len(a.Name) > maxScope:
		p.fault(path, "is %q; expected the name of a header or of a query parameter", aai.CleanLabel(a.Name, maxName))
	case a.In == "header" && forbiddenHeader(a.Name) && !strings.EqualFold(a.Name, "Authorization"):
		p.fault(path, "is %q, which is set by the gateway; expected another header", aai.CleanLabel(a.Name, maxName))
	}
}

// prefix reads the text before a secret. It appends the space that the author omitted after a scheme such as
// "Bearer".
func (p *parser) prefix(m *members, names ...string) string {
	prefix := m.text(names...)
	if !printable(prefix) || len(prefix) > maxName {
		p.fault(m.pathOf(names...), "is %q; expected at most %d ASCII characters, such as \"Bearer\"",
			aai.CleanLabel(prefix, maxName), maxName)
		return ""
	}
	if prefix != "" && (letter(prefix[len(prefix)-1]) || digit(prefix[len(prefix)-1])) {
		prefix += " "
	}
	return prefix
}

// variable reads the name of an environment variable with the secret. A descriptor from the web
// may not name one, because it could then obtain any secret of this computer.
func (p *parser) variable(m *members) string {
	name := m.text("env_var")
	if name == "" {
		return ""
	}
	right := len(name) <= maxName && !digit(name[0])
	for i := range len(name) {
		right = right && (name[i] == '_' || letter(name[i]) || digit(name[i]))
	}
	switch {
	case !right:
		p.fault(m.pathOf("env_var"), "is %q; expected the name of a variable, such as \"AAI_MYAPP_API_KEY\"",
			aai.CleanLabel(name, maxName))
	case p.o.Origin != "":
		p.warn(m.pathOf("env_var"), "is ignored; a descriptor from the web may not read this computer's environment")
		return ""
	}
	return name
}

// printable reports whether a text consists of visible ASCII characters and spaces.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
