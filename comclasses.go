package aai

import (
	"slices"
	"strings"
)

// ProgramClasses returns the COM classes by which a script runs any program or command, without a version: their CLSIDs by ProgID.
func ProgramClasses() map[string]string {
	return map[string]string{
		"WScript.Shell":                 "{72C24DD5-D70A-438B-8A42-98424B88AFB8}",
		"Shell.Application":             "{13709620-C279-11CE-A49E-444553540000}",
		"Shell.Explorer":                "{8856F961-340A-11D0-A96B-00C04FD705A2}",
		"MSScriptControl.ScriptControl": "{0E59F1D5-1FBE-11D0-8FF2-00A0D10038BC}",
		"ScriptControl":                 "{0E59F1D5-1FBE-11D0-8FF2-00A0D10038BC}",
		"Schedule.Service":              "{0F87369F-A4E5-4CFC-BD3E-73E6154572DD}",
		"WbemScripting.SWbemLocator":    "{76A64158-CB41-11D1-8B02-00600806D9B6}",
		"MMC20.Application":             "{49B2791A-B1AE-4C90-9B8E-E860BA07F889}",
		"htmlfile":                      "{25336920-03F9-11CF-8FD0-00AA00686F13}",
		"WindowsInstaller.Installer":    "{000C1090-0000-0000-C000-000000000046}",
		"JScript":                       "{F414C260-6AC0-11CF-B6D1-00AA00BBBB58}",
		"VBScript":                      "{B54F3741-5B07-11CF-A4B0-00AA004A55E8}",
		"ScriptBridge.ScriptBridge":     "{06290BD1-48AA-11D2-8432-006008C3FBFC}",
		"WinRM.Automation":              "{BCED617B-EC03-420B-8508-977DC7A686BD}",
		"WSMan.Automation":              "{BCED617B-EC03-420B-8508-977DC7A686BD}",
	}
}

// RunsPrograms reports whether the COM class of a ProgID runs any program or command that its caller names. A version at the end
// of the ProgID does not matter.
func RunsPrograms(progID string) bool {
	plain := strings.TrimRight(progID, "0123456789.")
	for name := range ProgramClasses() {
		if strings.EqualFold(name, progID) || strings.EqualFold(name, plain) {
			return true
		}
	}
	return false
}

// ProgramClasses returns the ProgIDs of the recipe with classes that run programs; see [RunsPrograms].
func (c *COMRecipe) ProgramClasses() []string {
	var found []string
	for _, s := range c.Steps {
		if RunsPrograms(s.ProgID) && !slices.Contains(found, s.ProgID) {
			found = append(found, s.ProgID)
		}
	}
	return found
}
