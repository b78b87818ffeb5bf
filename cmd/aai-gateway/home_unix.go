//go:build unix

package main

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"aai"
)

// ownHome says why the home folder is not one for this account: what is made in
// another's could not be read by them any more, and what they allowed is not this
// account's. One that is not there is nobody's.
func ownHome(home string) error {
	var stat syscall.Stat_t
	if err := syscall.Stat(home, &stat); err != nil {
		return nil //nolint:nilerr // nobody's, as said
	}
	if int(stat.Uid) == os.Geteuid() {
		return nil
	}
	owner, self := account(int(stat.Uid)), account(os.Geteuid())
	e := aai.Errorf(aai.InvalidParams, "the home folder %s belongs to %s, and this is %s; expected a folder of its own", aai.CleanLabel(home, 200), owner, self)
	e.Hint = fmt.Sprintf("Start the gateway as %s, or set HOME to the home folder of %s (sudo -H does).", owner, self)
	return e
}

// account is a user by name, as far as the computer knows one.
func account(id int) string {
	number := strconv.Itoa(id)
	if u, err := user.LookupId(number); err == nil {
		return aai.CleanLabel(u.Username, 60)
	}
	return "the user " + number
}
