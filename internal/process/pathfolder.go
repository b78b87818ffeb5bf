package process

import (
	"path"
	"regexp"
	"strings"
)

// wildcardPart stands for a part of a path that changes by itself, such as a version.
const wildcardPart = "*"

// pathFolder are the parts of paths that change by themselves, and what stays of them.
type pathFolder struct {
	// version is a folder that is named by a version, or has one in its name.
	version *regexp.Regexp
	// minor is an interpreter that is called by its version; its first number stays
	// where another one is another language.
	minor *regexp.Regexp
	// mount is where an AppImage is mounted: some letters of its file's name, and six
	// by chance.
	mount *regexp.Regexp
	// store is a folder of Nix's or Guix's store: a hash, and what it is of.
	store *regexp.Regexp
	// filesystemType is the kind of what is mounted at a path, "" for nothing.
	filesystemType func(path string) string
}

func newPathFolder() pathFolder {
	const tail = `([-+.]?(alpha|beta|rc|pre|dev|nightly|canary|insiders)[0-9.]*)?(\+[0-9A-Za-z.]+)?`
	return pathFolder{
		version:        regexp.MustCompile(`(^|[-_@])v?[0-9]+(\.[0-9]+)+` + tail + `($|[-_])`),
		minor:          regexp.MustCompile(`^(?:(python[0-9]|pypy[0-9])|(perl|ruby|php|lua|node|nodejs|guile|tclsh))[0-9.]+$`),
		mount:          regexp.MustCompile(`^(\.mount_.*).{6}$`),
		store:          regexp.MustCompile(`^[0-9a-z]{32}-`),
		filesystemType: FilesystemType,
	}
}

// fold is an absolute path in which an update changes nothing.
func (f pathFolder) fold(full string) string {
	parts := strings.Split(path.Clean(full), "/")
	for i := 1; i < len(parts); i++ {
		if i <= 3 && f.isFakedMount(parts[:i+1]) {
			continue
		}
		parts[i] = f.foldPart(parts[:i], parts[i], i == len(parts)-1)
	}
	return strings.Join(parts, "/")
}

// isFakedMount reports whether a folder only looks like a revision of a snap or the mount of
// an AppImage: those are mounted, the one by root.
func (f pathFolder) isFakedMount(parts []string) bool {
	switch full := strings.Join(parts, "/"); {
	case len(parts) == 4 && parts[1] == "snap":
		return !strings.Contains(f.filesystemType(full), "squash")
	case len(parts) == 3 && parts[1] == "tmp" && f.mount.MatchString(parts[2]):
		return !strings.HasPrefix(f.filesystemType(full), "fuse")
	}
	return false
}

// foldPart folds one part, by what is before it and whether it is the file.
func (f pathFolder) foldPart(before []string, part string, file bool) string {
	last := before[len(before)-1]
	switch {
	case (last == "versions" || last == "version") && isVersion(part),
		len(before) == 3 && before[1] == "snap", // /snap/<name>/<revision>
		last == "_npx", last == "archive-v0", last == "environments-v2", last == "dlx":
		return wildcardPart
	case len(before) == 2 && last == "tmp" && f.mount.MatchString(part):
		return f.mount.ReplaceAllString(part, "${1}"+wildcardPart)
	case len(before) == 3 && last == "store" && f.store.MatchString(part):
		part = f.store.ReplaceAllString(part, wildcardPart+"-")
	}
	if f.minor.MatchString(part) {
		return f.minor.ReplaceAllString(part, "${1}${2}")
	}
	if file {
		return part
	}
	return f.version.ReplaceAllString(part, "${1}"+wildcardPart+"${6}")
}

// isVersion reports whether a version may have the name.
func isVersion(name string) bool {
	name = strings.TrimPrefix(name, "v")
	return name != "" && name[0] >= '0' && name[0] <= '9'
}
