package main

import (
	"context"
	"io"
	"os"
	"os/exec"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/drivers/com/host"
)

// runCOM runs the COM calls that another process of this program sends.
func runCOM(in io.Reader, out io.Writer) int { return host.Run(in, out) }

// classes returns the sources of integrations on Windows.
func (s *setup) classes() discovery.ScannerConfig {
	launcher := s.programs()
	return discovery.ScannerConfig{
		Programs: func(ctx context.Context) []discovery.InstalledProgram {
			var found []discovery.InstalledProgram
			for _, p := range launcher.Installed(ctx) {
				found = append(found, discovery.InstalledProgram(p))
			}
			return found
		},
		ServerRegistry: launcher.ServerRegistry,
		Denied:         func(names []string) bool { return s.appLists().CheckApp(&aai.App{ID: names[0], Aliases: names}) != nil },
		Classes: func(ctx context.Context) ([]discovery.COMClass, error) {
			found, err := host.Classes(ctx)
			classes := make([]discovery.COMClass, len(found))
			for i, c := range found {
				classes[i] = discovery.COMClass(c)
			}
			return classes, err
		},
	}
}

// comChild returns the command of a process that runs COM calls.
func (s *setup) comChild() (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), path, runCOMCommand)
	cmd.Env = withoutSecrets(s.session.Environ(os.Environ()))
	return cmd, nil
}
