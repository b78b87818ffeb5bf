// Package login is how a person becomes known to a web app: OAuth 2.1 in the
// browser or by a code on another device, and keys, app credentials and cookies
// that a person gives.
//
// A driver gives it each request before it is sent ([Authorizer.Authorize]) and each
// answer that refuses one ([Authorizer.HandleRefusal]). A login is asked for by the first
// request that needs it, and goes on when that request is gone: the token gets to
// its place all the same, and the same call finds it when it is made again.
//
// What a login is for is the whole of where a descriptor came from, who gives the
// token, where it is sent, as which client and with which scopes. A token is never
// kept under the name of an app alone, or any site could ask for another's.
//
// The package may send requests through the client it is given, listen on the
// loopback interface while a login waits for its answer, and start the browser it
// is given. What it keeps it keeps in [Secrets]. The rows that tests are named after
// are those of the checklist in docs/decisions/login.md.
package oauth
