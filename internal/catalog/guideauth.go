package catalog

import (
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// setAuthentication describes how people log in to a web app.
func (doc *guide) setAuthentication(a *aai.AuthRecipe) {
	if a == nil {
		return
	}
	g := &answer.Authentication{Type: a.Kind, Instructions: aai.CleanLabel(a.Instructions, maxInstructions)}
	for _, address := range []string{a.AuthorizationEndpoint, a.LoginURL, a.ObtainURL, a.TokenEndpoint} {
		if g.At == "" {
			g.At = hostname(address)
		}
	}
	for _, scope := range a.Scopes[:min(len(a.Scopes), maxAliases)] {
		g.Scopes = append(g.Scopes, aai.CleanLabel(scope, maxName))
	}
	if a.In != "" {
		doc.carrier = a.In + " " + aai.CleanLabel(a.Name, maxName)
	}
	doc.Authentication = g
}

// writeAuthentication describes the person's part for an agent. The agent does nothing, because secrets must
// not pass through it.
func (doc *guide) writeAuthentication(b *strings.Builder) {
	a := doc.Authentication
	if a == nil {
		return
	}
	at := ""
	if a.At != "" {
		at = " at " + a.At
	}
	b.WriteString("\n## Authentication\n\n")
	switch a.Type {
	case aai.AuthOAuth2:
		fmt.Fprintf(b, "OAuth 2.1: the first operation opens the user's browser to log in%s.", at)
	case aai.AuthAPIKey:
		fmt.Fprintf(b, "API key: the user gets one%s and gives it to the gateway, which sends it in the %s.", at, doc.carrier)
	case aai.AuthBearer:
		fmt.Fprintf(b, "Bearer token: the user gets one%s and gives it to the gateway, which sends it in the %s.", at, doc.carrier)
	case aai.AuthAppCredential:
		fmt.Fprintf(b, "App credential: the user gives the gateway an app id and secret for tokens%s.", at)
	case aai.AuthCookie:
		fmt.Fprintf(b, "Cookies: the user logs in%s and gives the gateway the cookies of that session.", at)
	}
	if len(a.Scopes) > 0 {
		fmt.Fprintf(b, " Scopes: %s.", strings.Join(a.Scopes, ", "))
	}
	b.WriteString("\n")
	quote(b, sanitize.Quote, a.Instructions)
}
