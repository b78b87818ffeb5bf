package importers

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
)

// apiLogins are the logins of the API: the app's own, and further ones that operations need.
type apiLogins struct {
	main string                     // key of the app's own login in able; empty: none
	able map[string]*aai.AuthRecipe // usable logins, by the sorted names of their schemes
	// unusable maps each unusable login to the reason.
	unusable map[string]string
	known    map[string]*openapi3.SecurityScheme
	further  map[string]*aai.AuthRecipe // that tools have, by their names in the descriptor
}

// chooseLogin chooses the login that most operations accept. Its key is the names of schemes that
// are needed at once.
func (m *apiConverter) chooseLogin(operations []*operation) error {
	m.login = apiLogins{able: make(map[string]*aai.AuthRecipe), unusable: make(map[string]string),
		known: m.schemes(), further: make(map[string]*aai.AuthRecipe)}
	for _, name := range slices.Sorted(maps.Keys(m.login.known)) {
		m.addLogin([]string{name})
		if why := m.login.unusable[name]; why != "" {
			m.note("the login " + quotedField(name) + " cannot be used: " + why)
		}
	}
	for _, op := range operations {
		for _, way := range requirements(op, m.api) {
			m.addLogin(slices.Sorted(maps.Keys(way)))
		}
	}
	m.login.main = m.mostUsed(operations)
	if m.options.Login != "" {
		m.login.main = m.options.Login
		if m.login.able[m.options.Login] == nil {
			e := documentError("components.securitySchemes",
				"has no login "+quotedField(m.options.Login)+" that can be used", "one of them")
			if why := m.login.unusable[m.options.Login]; why != "" {
				e.Message += "; " + why
			}
			e.Candidates = slices.Sorted(maps.Keys(m.login.able))
			return e
		}
	}
	for key, auth := range m.login.able {
		if auth.Kind == aai.AuthOAuth2 {
			auth.Scopes = scopesOf(operations, m.api, key)
		}
	}
	return nil
}

// addLogin adds the login by schemes that are needed at once, if all of them are known.
func (m *apiConverter) addLogin(names []string) {
	key := loginKey(names)
	if key == "" || m.login.able[key] != nil || m.login.unusable[key] != "" {
		return
	}
	var all *aai.AuthRecipe
	for _, name := range names {
		if m.login.known[name] == nil {
			return
		}
		auth, why := m.recipeOf(m.login.known[name])
		if why == "" && all != nil {
			all, why = joinLogins(all, auth)
		} else if all == nil {
			all = auth
		}
		if why != "" {
			m.login.unusable[key] = why
			return
		}
	}
	m.login.able[key] = all
}

func loginKey(names []string) string { return strings.Join(names, " with ") }

// joinLogins returns a login with the keys of both.
func joinLogins(a, b *aai.AuthRecipe) (joined *aai.AuthRecipe, why string) {
	if b.Kind == aai.AuthOAuth2 {
		a, b = b, a
	}
	if b.Kind == aai.AuthOAuth2 || a.Kind == aai.AuthCookie || b.Kind == aai.AuthCookie {
		return nil, "it needs two logins at once of which only one can be keys"
	}
	both := *a
	both.Also = append(slices.Clone(a.Also), b.Keys()...)
	both.Instructions = ""
	places := make(map[string]bool)
	for _, key := range both.Keys() {
		place := key.In + " " + strings.ToLower(key.Name)
		if places[place] || a.Kind == aai.AuthOAuth2 && place == "header authorization" {
			return nil, "it needs two logins at once in the same place, the " + place
		}
		places[place] = true
	}
	return &both, ""
}

func (m *apiConverter) schemes() map[string]*openapi3.SecurityScheme {
	schemes := make(map[string]*openapi3.SecurityScheme)
	if m.api.Components == nil {
		return schemes
	}
	for name, ref := range m.api.Components.SecuritySchemes {
		if ref != nil && ref.Value != nil {
			schemes[name] = ref.Value
		}
	}
	return schemes
}

// mostUsed returns the login that most operations accept.
func (m *apiConverter) mostUsed(operations []*operation) string {
	best, most := "", 0
	for _, key := range slices.Sorted(maps.Keys(m.login.able)) {
		n := 0
		for _, op := range operations {
			if accepts(requirements(op, m.api), key) {
				n++
			}
		}
		easier := n == most && n > 0 && m.login.able[best] != nil && m.login.able[best].Kind == aai.AuthOAuth2 &&
			m.login.able[key].Kind != aai.AuthOAuth2
		if n > most || easier {
			best, most = key, n
		}
	}
	return best
}

// requirements returns the alternative security requirements of an operation; none: no login needed.
func requirements(op *operation, api *openapi3.T) openapi3.SecurityRequirements {
	if op.Security != nil {
		return *op.Security
	}
	return api.Security
}

// accepts reports whether one of the requirements is the login with the key.
func accepts(ways openapi3.SecurityRequirements, key string) bool {
	return slices.ContainsFunc(ways, func(way openapi3.SecurityRequirement) bool {
		return len(way) > 0 && loginKey(slices.Sorted(maps.Keys(way))) == key
	})
}

// loginOf returns the login of an operation, or why none can call it. nil means that it needs none.
// The app's own login stands for one that the document does not describe.
func (m *apiConverter) loginOf(op *operation) (auth *aai.AuthRecipe, why string) {
	ways := requirements(op, m.api)
	if accepts(ways, m.login.main) {
		return m.login.able[m.login.main], ""
	}
	if len(ways) == 0 || slices.ContainsFunc(ways, func(way openapi3.SecurityRequirement) bool { return len(way) == 0 }) {
		return nil, ""
	}
	var wanted []string
	for _, way := range ways {
		names := slices.Sorted(maps.Keys(way))
		key := loginKey(names)
		if m.login.able[key] != nil {
			return m.furtherLogin(nameOf(strings.Join(names, "_")), m.login.able[key]), ""
		}
		if m.login.unusable[key] != "" {
			wanted = append(wanted, key+" ("+m.login.unusable[key]+")")
		}
	}
	if len(wanted) == 0 {
		return m.login.able[m.login.main], ""
	}
	return nil, "it wants the login " + aai.CleanLabel(strings.Join(wanted, " or "), 300)
}

// furtherLogin returns the login under its name in the descriptor.
func (m *apiConverter) furtherLogin(name string, auth *aai.AuthRecipe) *aai.AuthRecipe {
	if name = strings.Trim(name[:min(len(name), maxName)], "-_"); name == "" {
		name = "login"
	}
	if m.login.further[name] == nil {
		named := *auth
		named.Login = name
		m.login.further[name] = &named
	}
	return m.login.further[name]
}

// scopesOf returns the scopes that the operations with this login require.
func scopesOf(operations []*operation, api *openapi3.T, key string) []string {
	const most = 50
	var scopes []string
	for _, op := range operations {
		for _, way := range requirements(op, api) {
			if loginKey(slices.Sorted(maps.Keys(way))) != key {
				continue
			}
			for _, scope := range slices.Concat(slices.Collect(maps.Values(way))...) {
				if !slices.Contains(scopes, scope) && scope != "" && !strings.ContainsAny(scope, " \"\\") {
					scopes = append(scopes, scope)
				}
			}
		}
	}
	slices.Sort(scopes)
	if len(scopes) > most {
		return nil // the server's default scopes
	}
	return scopes
}

// recipeOf converts a scheme to a login recipe, or returns why the gateway does not support it.
func (m *apiConverter) recipeOf(s *openapi3.SecurityScheme) (auth *aai.AuthRecipe, why string) {
	switch strings.ToLower(s.Type) {
	case "apikey":
		return m.keyOf(s)
	case "http":
		switch strings.ToLower(s.Scheme) {
		case "bearer":
			return &aai.AuthRecipe{Kind: aai.AuthBearer, In: "header", Name: "Authorization", Prefix: "Bearer ",
				Instructions: firstWords(s.Description, maxText)}, ""
		case "basic":
			return &aai.AuthRecipe{
				Kind: aai.AuthAPIKey, In: "header", Name: "Authorization", Prefix: "Basic ",
				Instructions: "The user's name and password as name:password, written in base64",
			}, ""
		}
		return schemeOf(s)
	case "oauth2":
		return m.oauth(s)
	case "openidconnect":
		return tokenOf("OpenID Connect"), ""
	case "mutualtls":
		return nil, "the gateway shows no certificates"
	}
	return nil, "its type " + quotedField(s.Type) + " is unknown"
}

// schemeOf returns a login whose header begins with the name of a scheme that the gateway does not
// know. It cannot be one that computes a value for each request.
func schemeOf(s *openapi3.SecurityScheme) (*aai.AuthRecipe, string) {
	name := aai.CleanLabel(s.Scheme, maxName)
	for _, computed := range []string{"digest", "negotiate", "ntlm", "hoba", "mutual", "scram", "vapid", "dpop", "signature", "hmac"} {
		if strings.Contains(strings.ToLower(name), computed) || nameOf(name) != name || name == "" {
			return nil, "the gateway does not know the scheme " + quotedField(s.Scheme) + " of HTTP"
		}
	}
	return &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: "Authorization", Prefix: name + " ",
		Instructions: firstWords(s.Description, maxText)}, ""
}

// tokenOf returns a login by an access token that the person gets outside of the gateway.
func tokenOf(way string) *aai.AuthRecipe {
	return &aai.AuthRecipe{Kind: aai.AuthBearer, In: "header", Name: "Authorization", Prefix: "Bearer ",
		Instructions: "An access token. The document gives only " + way + ", by which the gateway cannot get one"}
}

func (m *apiConverter) keyOf(s *openapi3.SecurityScheme) (*aai.AuthRecipe, string) {
	name := strings.ToLower(s.Name)
	switch {
	case s.In == "cookie" && nameOf(s.Name) != "" && nameOf(s.Name) == s.Name:
		return &aai.AuthRecipe{Kind: aai.AuthCookie, LoginURL: m.section.BaseURL, Cookies: []string{s.Name},
			Instructions: firstWords(s.Description, maxText)}, ""
	case s.In != "header" && s.In != "query" || s.Name == "" || len(s.Name) > 200 || nameOf(s.Name) == "":
		return nil, "it does not say where its key goes"
	case s.In == "header" && (name == "cookie" || name == "host" || strings.HasPrefix(name, "proxy-") ||
		strings.HasPrefix(name, "x-forwarded-")):
		return nil, "its key goes into the header " + quotedField(s.Name) + ", which is the gateway's to set"
	}
	return &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: s.In, Name: s.Name, Instructions: firstWords(s.Description, maxText)},
		""
}

// oauth uses the authorization code flow. OAuth 2.1 has removed the other flows, or they are for
// machines.
func (m *apiConverter) oauth(s *openapi3.SecurityScheme) (*aai.AuthRecipe, string) {
	if s.Flows == nil || s.Flows.AuthorizationCode == nil {
		return tokenOf("flows of OAuth other than authorizationCode"), ""
	}
	flow := s.Flows.AuthorizationCode
	auth := &aai.AuthRecipe{Kind: aai.AuthOAuth2, PKCE: "S256"}
	for _, e := range []struct {
		raw  string
		into *string
	}{{flow.AuthorizationURL, &auth.AuthorizationEndpoint}, {flow.TokenURL, &auth.TokenEndpoint}} {
		u, err := url.Parse(e.raw)
		base, badBase := url.Parse(m.section.BaseURL + "/")
		if err == nil && badBase == nil && !u.IsAbs() {
			u = base.ResolveReference(u)
		}
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return nil, "its address " + quotedField(e.raw) + " is not https"
		}
		*e.into = u.String()
	}
	return auth, ""
}
