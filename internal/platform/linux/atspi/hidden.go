package atspi

import (
	"bytes"
	"fmt"
	"os"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Reasons for a missing tree, and the remedy for each.
const (
	hiddenSilent = "It does not answer. It may be busy or hang."
	hiddenEmpty  = "Its windows have nothing in them that assistive technology could see. It may still be starting; otherwise look at a picture of it."
	hiddenBare   = "It was started without accessibility, so its windows look empty. Close it and start it again with --force-renderer-accessibility " + desktop.ChromiumNoBackgroundingFlag + "."
	hiddenAbsent = "It shows no tree of its elements. A program of Qt or Chromium that was started before accessibility was switched on has to be started again " +
		"(Chromium and Electron with --force-renderer-accessibility); one of GTK 2 has to be started by the gateway, or with GTK_MODULES=gail:atk-bridge, where libatk-adaptor is installed; others, such as terminals of X, never show one: look at a picture of the window."
	hiddenJava = "It is a program of Java without a bridge to the accessibility bus. Where the package libatk-wrapper-java is installed, it shows its elements if it is started again with JAVA_TOOL_OPTIONS=\"" +
		desktop.JavaBridgeOptions + "\"."
)

// absentReason returns the reason for the missing tree of a process that has windows but is not on the accessibility
// bus. The libraries of the process decide, because many programs of Java start Java in their own process.
func absentReason(pid int) string {
	if maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)); err == nil && bytes.Contains(maps, []byte("/libjvm.so")) {
		return hiddenJava
	}
	return hiddenAbsent
}
