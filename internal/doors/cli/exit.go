package cli

import (
	"errors"

	"github.com/gybob/aai-gateway"
)

// The exit codes that do not stand for one aai.Code.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // 128 + SIGINT, as in shells
)

// exitOf maps an error's code to the exit code of the process. 70 and 71 are EX_SOFTWARE
// and EX_OSERR of sysexits.h.
func exitOf(code aai.Code) int {
	switch code {
	case aai.AutomationFailed, aai.AutomationNotSupported, aai.APIRequestFailed:
		return exitFailed
	case aai.InvalidParams, aai.DescriptorInvalid, aai.ScriptParseError:
		return exitUsage
	case aai.AppNotFound, aai.ToolNotFound, aai.AppNotRunning, aai.StaleRef, aai.AmbiguousTarget, aai.ElementNotFound:
		return 3
	case aai.PermissionDenied, aai.ConsentRequired, aai.AuthRequired, aai.AuthExpired, aai.AuthDenied, aai.AuthInvalid:
		return 4
	case aai.RateLimited:
		return 5
	case aai.Timeout:
		return 6
	case aai.Internal:
		return 70
	case aai.RecordFailed:
		return 71
	}
	return exitFailed
}

// exitCode returns the exit code for a command's error.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if isInterrupted(err) {
		return exitInterrupted
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if finding, ok := errors.AsType[*findingsError](err); ok {
		return finding.exit
	}
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return exitOf(e.Code)
	}
	return exitFailed
}

// findingsError ends a command that succeeded but found a problem, such as an invalid file.
// The command has already shown its findings.
type findingsError struct{ exit int }

func (f *findingsError) Error() string { return "found something wrong" }

// A usageError reports a command line that cannot be understood.
type usageError struct {
	message    string
	candidates []string
	usage      string // the usage line of the command
}

func (e *usageError) Error() string { return e.message }
