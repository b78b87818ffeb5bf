// Package oauth adds a user's credentials to requests to web apps: OAuth 2.1 in the
// browser or by device code, and keys, app credentials and cookies that the user enters.
//
// A driver passes each request to [Authorizer.Authorize] before it sends it, and each
// refusal to [Authorizer.HandleRefusal]. The first request that needs a login begins it.
// The login continues after that request has ended: its token is stored, and the same
// call finds it later.
//
// A token is bound to the descriptor's origin, the issuer, the API's address, the client
// and the scopes. The name of an app alone never identifies a token, because any site
// could then request the token of another.
//
// The package sends requests through the configured client, listens on the loopback
// interface during a login, and starts the configured browser. It stores its data in
// [Secrets]. The rows in test names are those of the checklist in
// docs/decisions/login.md.
package oauth
