// Package webapi runs the tools of web apps over HTTP: it turns an [aai.Recipe]
// with HTTP set into an [aai.Action].
//
// It sends requests only through the configured HTTP client, which decides which hosts
// are reachable. It uses no files but those that a person allowed for the call, no environment and no proxy. An [Authorizer] adds
// credentials to a request; the package redacts them in every response.
//
// The steps of one call, all within the call's deadline:
//
//	uploads    read the files that parameters name (upload.go, multipart.go)
//	message    put parameters into path, query or body (message.go, address.go)
//	wait       keep to the request limit of the origin (limit.go)
//	attempt    authorize, send, record the delivery (attempt.go, trace.go)
//	again      back off, then repeat if that is harmless (call.go)
//	read       decompress, up to a limit, with progress (read.go)
//	result     convert by content type: JSON, text, picture or a note (result.go, json.go)
//	refusal    map the HTTP status to a code, quote the server's text (status.go)
//
// An argument cannot change the host, the path's prefix, the number of its segments or
// another parameter. A response is untrusted: it has a size limit, loses its invisible
// characters, and carries its origin.
package webapi
