package importers

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
)

// chosenLogin is the authentication of the API: one of its security schemes.
type chosenLogin struct {
	name string // name of the scheme; empty: none
	auth *aai.AuthRecipe
	// unusable maps each unusable scheme to the reason. It has no entry for a usable scheme.
	unusable map[string]string
}

// chooseLogin chooses the scheme that most operations accept.
func (m *apiConverter) chooseLogin(operations []*operation) error {
	m.login.unusable = make(map[string]string)
	schemes := m.schemes()
	able := make(map[string]*aai.AuthRecipe)
	for _, name := range slices.Sorted(maps.Keys(schemes)) {
		auth, why := m.recipeOf(schemes[name])
		if why != "" {
			m.login.unusable[name] = why
			m.note("the login " + quotedField(name) + " cannot be used: " + why)
			continue
		}
		able[name] = auth
	}
	if m.options.Login != "" {
		if able[m.options.Login] == nil {
			e := documentError("components.securitySchemes",
				"has no login "+quotedField(m.options.Login)+" that can be used", "one of them")
			if why := m.login.unusable[m.options.Login]; why != "" {
				e.Message += "; " + why
			}
			e.Candidates = slices.Sorted(maps.Keys(able))
			return e
		}
		m.login.name = m.options.Login
	} else {
		m.login.name = mostUsed(operations, m.api, able)
	}
	if m.login.auth = able[m.login.name]; m.login.auth != nil && m.login.auth.Kind == aai.AuthOAuth2 {
		m.login.auth.Scopes = scopesOf(operations, m.api, m.login.name)
	}
	if m.login.auth != nil && len(able) > 1 {
		m.note("of the logins " + strings.Join(slices.Sorted(maps.Keys(able)), ", ") + " the app has " +
			quotedField(m.login.name))
	}
	return nil
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

// mostUsed returns the name of the scheme that most operations accept on its own.
func mostUsed(operations []*operation, api *openapi3.T, able map[string]*aai.AuthRecipe) string {
	best, most := "", 0
	for _, name := range slices.Sorted(maps.Keys(able)) {
		n := 0
		for _, op := range operations {
			if slices.ContainsFunc(requirements(op, api),
				func(r openapi3.SecurityRequirement) bool { return isOnlyScheme(r, name) }) {
				n++
			}
		}
		easier := n == most && n > 0 && able[best] != nil && able[best].Kind == aai.AuthOAuth2 &&
			able[name].Kind != aai.AuthOAuth2
		if n > most || easier {
			best, most = name, n
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

func isOnlyScheme(r openapi3.SecurityRequirement, name string) bool {
	_, has := r[name]
	return has && len(r) == 1
}

// covers returns why the chosen login cannot call an operation, and whether the operation needs
// no login.
func (l *chosenLogin) covers(op *operation, api *openapi3.T) (public bool, why string) {
	ways := requirements(op, api)
	if slices.ContainsFunc(ways, func(r openapi3.SecurityRequirement) bool { return isOnlyScheme(r, l.name) }) {
		return false, ""
	}
	if len(ways) == 0 || slices.ContainsFunc(ways, func(r openapi3.SecurityRequirement) bool { return len(r) == 0 }) {
		return l.auth != nil, ""
	}
	var wanted []string
	for _, way := range ways {
		names := slices.Sorted(maps.Keys(way))
		words := strings.Join(names, " with ")
		if len(names) == 1 && l.unusable[names[0]] != "" {
			words += " (" + l.unusable[names[0]] + ")"
		}
		wanted = append(wanted, words)
	}
	why = "it wants the login " + aai.CleanLabel(strings.Join(wanted, " or "), 200)
	if l.name != "" {
		why += "; the app has " + quotedField(l.name)
	}
	return false, why
}

// scopesOf returns the scopes that the operations require.
func scopesOf(operations []*operation, api *openapi3.T, name string) []string {
	const most = 50
	var scopes []string
	for _, op := range operations {
		for _, way := range requirements(op, api) {
			for _, scope := range way[name] {
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
		return keyOf(s)
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
		return nil, "the gateway does not know the scheme " + quotedField(s.Scheme) + " of HTTP"
	case "oauth2":
		return m.oauth(s)
	case "openidconnect":
		return nil, "its addresses are at openIdConnectUrl, which an import does not fetch"
	case "mutualtls":
		return nil, "the gateway shows no certificates"
	}
	return nil, "its type " + quotedField(s.Type) + " is unknown"
}

func keyOf(s *openapi3.SecurityScheme) (*aai.AuthRecipe, string) {
	name := strings.ToLower(s.Name)
	switch {
	case s.In == "cookie":
		return nil, "its key is a cookie, and the document does not say where people log in to get it"
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
		return nil, "it has no flow authorizationCode, which is the one of OAuth 2.1 for people"
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
