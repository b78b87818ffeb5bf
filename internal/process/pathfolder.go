package process

import (
	"path"
	"regexp"
	"strings"
)

// wildcardPart replaces a part of a path that changes with updates, such as a version.
const wildcardPart = "*"

// pathFolder replaces the parts of paths that change with updates.
type pathFolder struct {
	// version matches a folder name that is or contains a version.
	version *regexp.Regexp
	// minor matches an interpreter name with a version. Its first number stays if another one
	// means another language.
	minor *regexp.Regexp
	// mount matches the mount point of an AppImage: letters of its file name, and six random
	// ones.
	mount *regexp.Regexp
	// store matches a folder of Nix's or Guix's store: a hash and a name.
	store *regexp.Regexp
	// filesystemType returns the file system type mounted at a path, or "".
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

// fold returns an absolute path with the changing parts replaced, so that it survives updates.
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

// isFakedMount reports whether a folder only resembles a snap revision or an AppImage mount: real
// ones are mount points, and only root can mount a snap.
func (f pathFolder) isFakedMount(parts []string) bool {
	switch full := strings.Join(parts, "/"); {
	case len(parts) == 4 && parts[1] == "snap":
		return !strings.Contains(f.filesystemType(full), "squash")
	case len(parts) == 3 && parts[1] == "tmp" && f.mount.MatchString(parts[2]):
		return !strings.HasPrefix(f.filesystemType(full), "fuse")
	}
	return false
}

// foldPart folds one part; before holds the preceding parts, and file marks the last one.
func (f pathFolder) foldPart(before []string, part string, file bool) string {
	last := before[len(before)-1]
	switch {
	case (last == "versions" || last == "version") && isVersion(part),
		len(before) == 3 && before[1] == "snap", // /snap/<name>/<revision>
		last == "_npx", last == "archive-v0", last == "builds-v0", last == "environments-v2", last == "dlx":
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

// isVersion reports whether the name can be a version.
func isVersion(name string) bool {
	name = strings.TrimPrefix(name, "v")
	return name != "" && name[0] >= '0' && name[0] <= '9'
}
