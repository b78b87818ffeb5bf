package main

import (
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/osascript"
	"github.com/gybob/aai-gateway/internal/drivers/simctl"
)

// appleDrivers returns the drivers of a Mac, for the apps of macOS and of the simulators of iOS. programs is the folder of the
// system's programs.
func appleDrivers(getenv func(string) string, programs string) map[string]aai.Driver {
	scripts := appleScripts(getenv, programs)
	return map[string]aai.Driver{
		"macos/applescript": scripts, "macos/jxa": scripts, "macos/ipc": scripts,
		"ios/url_scheme": simctl.New(simctl.Config{Program: filepath.Join(programs, "xcrun"), Environ: appleEnviron(getenv)}),
	}
}

// appleScripts returns the driver that runs scripts of macOS.
func appleScripts(getenv func(string) string, programs string) *osascript.Driver {
	return osascript.New(osascript.Config{Program: filepath.Join(programs, "osascript"), Environ: appleEnviron(getenv), Getenv: getenv})
}

// appleEnviron returns the environment of the system's programs: the variables with which they find their files, and no secret.
func appleEnviron(getenv func(string) string) func() []string {
	return func() []string {
		var environ []string
		for _, name := range []string{"HOME", "USER", "LOGNAME", "PATH", "TMPDIR", "LANG", "LC_ALL", "TZ", "__CF_USER_TEXT_ENCODING", "DEVELOPER_DIR"} {
			if value := getenv(name); value != "" {
				environ = append(environ, name+"="+value)
			}
		}
		return environ
	}
}
