package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// target is a platform of the builds, by Go's names.
type target struct{ os, arch string }

func targets() []target {
	return []target{
		{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
	}
}

// module is a Go module in the program.
type module struct{ Path, Version, Dir string }

// modules returns the modules in the program on any platform, sorted by path.
func modules(ctx context.Context) ([]module, error) {
	found := make(map[string]module)
	for _, t := range targets() {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Module", "github.com/gybob/aai-gateway/cmd/aai-gateway")
		cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s/%s: %w", t.os, t.arch, err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var pkg struct{ Module *module }
			if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if pkg.Module != nil && pkg.Module.Version != "" { // the main module has none
				found[pkg.Module.Path] = *pkg.Module
			}
		}
	}
	all := make([]module, 0, len(found))
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// licenceNotices returns the licences of all code in the program, which must accompany it. Go's
// licence comes first.
func licenceNotices(ctx context.Context) ([]byte, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	others, err := modules(ctx)
	if err != nil {
		return nil, err
	}
	text := []byte("The program contains code of others. Their licences and notices:\n")
	for _, m := range append([]module{{Path: "The Go programming language", Dir: strings.TrimSpace(string(root))}}, others...) {
		files, err := licences(m.Dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		text = fmt.Appendf(text, "\n%s\n%s\n", strings.Repeat("=", 72), strings.TrimSpace(m.Path+" "+m.Version))
		for _, f := range files {
			said, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			text = fmt.Appendf(text, "\n%s\n", bytes.TrimSpace(said))
		}
	}
	return text, nil
}

// licences returns the licence files in a module's folder. A distribution of Go may keep its own
// one folder up.
func licences(dir string) ([]string, error) {
	named := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)
	for _, place := range []string{dir, filepath.Dir(dir)} {
		entries, err := os.ReadDir(place)
		if err != nil {
			return nil, err
		}
		var files []string
		for _, e := range entries {
			if !e.IsDir() && named.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
				files = append(files, filepath.Join(place, e.Name()))
			}
		}
		if len(files) > 0 {
			return files, nil
		}
	}
	return nil, fmt.Errorf("%s contains no licence", dir)
}
