// Command packaging writes the files that accompany a release: the manual, completions, icons and
// licence notices, an SBOM, and the packages and manifests that goreleaser does not write. It is
// not part of the program. scripts/packages runs it.
package main

import (
	"fmt"
	"io"
	"os"
)

const (
	program   = "aai-gateway"
	otherName = "axterminator" // under it the program serves the desktop tools; see docs/guide.md
)

const summary = "Lets any AI agent use the apps of this computer, and asks you first."

const usage = `usage: go run ./packaging share DIR           the manual, completions, icons, notices
       go run ./packaging sbom PROGRAM VERSION FILE
                                              the program's dependencies, as CycloneDX
       go run ./packaging shelves DIST        packages and manifests of goreleaser's output in DIST
`

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, said io.Writer) int {
	commands := map[string]struct {
		operands int
		run      func(args []string) error
	}{
		"share":   {1, func(a []string) error { return writeShare(a[0]) }},
		"sbom":    {3, func(a []string) error { return sbom(a[0], a[1], a[2]) }},
		"shelves": {1, func(a []string) error { return packageManifests(a[0]) }},
	}
	if len(args) == 0 {
		_, _ = io.WriteString(said, usage) // the output may have no reader
		return 2
	}
	command, known := commands[args[0]]
	if !known || len(args) != 1+command.operands {
		_, _ = io.WriteString(said, usage)
		return 2
	}
	if err := command.run(args[1:]); err != nil {
		_, _ = fmt.Fprintf(said, "packaging %s: %v\n", args[0], err)
		return 1
	}
	return 0
}
