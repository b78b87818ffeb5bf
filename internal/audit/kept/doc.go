// Package kept stores results of calls and screenshots, for the time and for the apps that
// the person configures; without configuration it stores none.
//
// A ResultStore writes one file per result, sealed if there is a vault. The file's name is
// the day and a digest of the call's ID. The journal does not depend on it: an outcome holds
// the digest of the result, and a deleted result leaves the hash chain intact.
//
// A ScreenshotStore keeps screenshots of windows after mutations, for the person and never
// for agents. It uses the desktop's screenshot tool, which refuses password entry and
// protected windows. Screenshots are kept for a day at most.
package kept
