package main

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// planExtension returns the change that installs or removes the extension of GNOME Shell.
func (i *clientInstaller) planExtension(act string) (*cli.ClientPlan, error) {
	plan := &cli.ClientPlan{ID: cli.ShellExtension, Name: "Extension of GNOME Shell", Change: "nothing"}
	if i.shell == nil {
		if act == cli.ClientUninstall {
			return plan, nil
		}
		e := aai.Errorf(aai.AutomationNotSupported, "GNOME Shell and its extensions are on Linux alone")
		e.Hint = "Run this on the computer with GNOME, as the person who uses its windows."
		return nil, e
	}
	x, err := i.shell()
	if err != nil {
		return nil, err
	}
	plan.File = x.Folder()
	switch {
	case act == cli.ClientUninstall && x.IsPresent():
		plan.Change, plan.Diff = "remove", "The folder is deleted."
		plan.Apply = func(context.Context) error { return x.Remove() }
	case act == cli.ClientInstall && !x.IsCurrent():
		plan.Change, plan.Diff = "add", "extension.js and metadata.json are written into the folder."
		plan.Notes = []string{"it tells every program of your session the titles and places of your windows, and such a program can bring a window to the front, minimize and close it; it gives no pictures"}
		plan.After = "Log out and in once, so that GNOME Shell finds it. Then switch it on: gnome-extensions enable " + cli.ShellExtensionID + "\n\"aai-gateway check\" says whether it is used."
		plan.Apply = func(context.Context) error { return x.Install() }
	case act == cli.ClientRollback:
		e := aai.Errorf(aai.InvalidParams, "the extension of GNOME Shell has no former state")
		e.Hint = "\"aai-gateway uninstall --client " + cli.ShellExtension + "\" removes it."
		return nil, e
	}
	return plan, nil
}
