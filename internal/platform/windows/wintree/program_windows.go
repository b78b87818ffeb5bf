package wintree

import "github.com/gybob/aai-gateway/internal/platform/windows/win32"

func programIdentity(executable, script string, args []string) string {
	return identify(executable, script, args, win32.MayChange)
}
