// Package userinfo provides the system's facts about the account of this process, independent of
// the environment: the home folder, file ownership, files of root, and user namespaces.
//
// The program that starts the gateway chooses its environment. The gates' decisions must not
// depend on it.
package userinfo
