package clients

import (
	"path/filepath"
	"slices"
	"strings"
)

// npx returns the command that starts a program from npx's cache. The cache path itself is not
// stable, because npx clears it. ok is false for a program elsewhere.
func npx(program, system string) (launch []string, ok bool) {
	parts := strings.Split(filepath.ToSlash(program), "/")
	cache, modules := slices.Index(parts, "_npx"), lastIndex(parts, "node_modules")
	bin := len(parts) - 2
	if cache < 0 || modules < cache || modules+1 >= bin || parts[bin] != "bin" {
		return nil, false
	}
	// The program is in a package of its platform, named <package>-<system>-<processor>.
	name := strings.Join(parts[modules+1:bin], "/")
	for range 2 {
		name = name[:max(strings.LastIndexByte(name, '-'), 0)]
	}
	if name == "" {
		return nil, false
	}
	launch = []string{"npx", "-y", name}
	if system == windows { // where npx is a shell script
		launch = append([]string{"cmd", "/c"}, launch...)
	}
	return launch, true
}

func lastIndex(parts []string, word string) int {
	for i, part := range slices.Backward(parts) {
		if part == word {
			return i
		}
	}
	return -1
}

// byNPX reports whether a command starts a package of this program's name through npx.
func byNPX(command string, args []string) bool {
	if baseName(command) == "cmd" && len(args) > 1 && strings.EqualFold(args[0], "/c") {
		command, args = args[1], args[2:]
	}
	if baseName(command) != "npx" {
		return false
	}
	i := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if i < 0 {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(args[i], "@"), "@") // without its version
	return name[strings.LastIndexByte(name, '/')+1:] == EntryName
}

// baseName returns the name of a command, without its folder and its Windows extension.
func baseName(command string) string {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	for _, end := range []string{".exe", ".cmd"} {
		if len(name) > len(end) && strings.EqualFold(name[len(name)-len(end):], end) {
			return name[:len(name)-len(end)]
		}
	}
	return name
}

// withoutNPX returns PATH without the folders that npx prepends.
func withoutNPX(path string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool {
		return slices.Contains(strings.Split(filepath.ToSlash(folder), "/"), "node_modules")
	})
	return strings.Join(folders, string(filepath.ListSeparator))
}
