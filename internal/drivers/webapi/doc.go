// Package webapi runs the tools of web apps over HTTP: it turns an [aai.Recipe]
// with HTTP set into an [aai.Action].
//
// It speaks through the one client that it is given, which decides what may be
// reached, and touches nothing else: no files, no environment, no proxy of its own.
// Who the person is to the app it does not know either; an [Authorizer] adds that to
// a request, and what was added is taken out of everything that comes back.
//
// The way of one call, all of it within the call's deadline:
//
//	message    which parameter goes into path, query or body (message.go, address.go)
//	wait       no host is asked more often than the limit says (limit.go)
//	attempt    authorize, send, see what was delivered (attempt.go, trace.go)
//	again      backoff, where a second try can do no harm (perform.go)
//	read       decompressed, up to a limit, with progress (read.go)
//	result     by content type: JSON, text, picture or a note (result.go, json.go)
//	refusal    the server's status as a code, its words as words (status.go)
//
// A value of a call is data: it can change neither the host, nor the path's prefix,
// nor the number of its segments, nor another parameter. An answer is a stranger's:
// it is bounded, cleaned of what cannot be seen, and marked with its origin.
package webapi
