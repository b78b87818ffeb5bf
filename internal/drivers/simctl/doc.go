// Package simctl runs the tools of iOS apps in the simulators of Xcode: it turns an [aai.Recipe] with URL set into an [aai.Action]
// that opens a URL by "xcrun simctl".
//
// The steps of one call, all within the call's deadline:
//
//	resolve  put the arguments into the URL, each percent-encoded, so that none becomes a part of its structure (url.go)
//	device   the booted simulator: the only one, or the one that the parameter "device" names (device.go)
//	open     simctl openurl; its exit status says whether iOS took the URL
//	result   wait for the app's answer: a text on the pasteboard, or a file in its app group (result.go)
//
// simctl takes a URL only as an argument, which other programs can read while it runs. So a URL is no place for a secret.
//
// It is composed and checked on Linux with a program in the place of xcrun; it never ran on a Mac.
package simctl
