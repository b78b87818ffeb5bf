package process

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A pythonPath finds the modules of a Python process as its interpreter does.
type pythonPath struct {
	root        string   // prefix by which the current process reaches the files of the other
	own         []string // folders before the standard library: the working folder and PYTHONPATH
	library     []string // folders of the standard library; nil: not known
	sites       []string // folders of installed packages
	environment string   // the virtual environment; "" is none
}

// newPythonPath returns the path of the process with the facts and the environment at its start. It returns
// false if the folders of the process cannot be told.
func newPythonPath(f peerFacts, root string, env []string) (pythonPath, bool) {
	options, getenv := f.command().options, lookupIn(env)
	has := func(name string) bool { _, found := options[name]; return found }
	isolated := has("-I")
	ignoresEnv := isolated || has("-E")
	set := func(name string) bool { return !ignoresEnv && getenv(name) != "" }
	p := pythonPath{root: root}
	program, genuine := f.pythonProgram(root, getenv("PATH"))
	if !genuine || f.workingDir == "" || set("PYTHONHOME") || set("PYTHONPLATLIBDIR") {
		return p, false
	}
	if !isolated && !has("-P") && !set("PYTHONSAFEPATH") {
		p.own = append(p.own, f.workingDir)
	}
	if set("PYTHONPATH") {
		for _, folder := range strings.Split(getenv("PYTHONPATH"), ":") {
			p.own = append(p.own, absolute(f.workingDir, folder))
		}
	}
	base := filepath.Dir(filepath.Dir(f.executable))
	environment, config := findPythonEnvironment(root, program)
	if home := config["home"]; home != "" {
		base = filepath.Dir(home)
	}
	version := pythonVersion(root, base, filepath.Base(f.executable))
	if version == "" {
		return p, false
	}
	for _, lib := range []string{"lib", "lib64"} {
		p.library = append(p.library, filepath.Join(base, lib, version), filepath.Join(base, lib, version, "lib-dynload"))
	}
	p.environment = environment // with -S too: pyvenv.cfg names the standard library
	if has("-S") {
		return p, true
	}
	if environment != "" {
		p.sites = append(p.sites, filepath.Join(environment, "lib", version, "site-packages"),
			filepath.Join(environment, "lib64", version, "site-packages"))
	}
	if environment != "" && !strings.EqualFold(config["include-system-site-packages"], "true") {
		return p, true
	}
	if !isolated && !has("-s") && !set("PYTHONNOUSERSITE") {
		userBase := getenv("PYTHONUSERBASE")
		if ignoresEnv || userBase == "" {
			userBase = filepath.Join(getenv("HOME"), ".local")
		}
		p.sites = append(p.sites, filepath.Join(absolute(f.workingDir, userBase), "lib", version, "site-packages"))
	}
	p.sites = append(p.sites, systemSites(base, version)...)
	return p, true
}

// systemSites returns the folders of packages of an installation, in the order of their search.
func systemSites(base, version string) []string {
	return []string{
		filepath.Join("/usr/local/lib", version, "dist-packages"),
		filepath.Join(base, "lib", version, "site-packages"), filepath.Join(base, "lib64", version, "site-packages"),
		filepath.Join(base, "lib/python3/dist-packages"), filepath.Join(base, "lib", version, "dist-packages"),
	}
}

// find returns the real path of the file of a module that "-m" names, and the folder of the environment. The
// path is "" if only the environment decides which file it is; both are "" if nothing can be told.
func (p pythonPath) find(module string) (file, environment string) {
	folders := slices.Concat(p.own, p.library, p.sites)
	names := strings.Split(module, ".")
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, `/*?[\`) {
			return "", ""
		}
		found, uncertain := p.lookUp(folders, name)
		switch {
		case uncertain:
			return "", ""
		case found.file == "" && len(found.folders) == 0 && i == 0:
			return "", p.environment
		case found.file == "" && len(found.folders) == 0:
			return "", ""
		case found.file != "" && i < len(names)-1:
			return "", ""
		case found.file != "":
			return p.real(found.file)
		}
		folders = found.folders
	}
	found, uncertain := p.lookUp(folders, "__main__")
	if uncertain || found.file == "" {
		return "", ""
	}
	return p.real(found.file)
}

// A pythonModule is a module's file, or the folders of a package.
type pythonModule struct {
	file    string
	folders []string
}

// lookUp finds a name in folders. It is uncertain where an archive can have the module.
func (p pythonPath) lookUp(folders []string, name string) (found pythonModule, uncertain bool) {
	for _, folder := range folders {
		info, err := os.Stat(p.root + folder)
		switch {
		case os.IsNotExist(err):
			continue
		case err != nil, !info.IsDir():
			return pythonModule{}, true
		}
		path := filepath.Join(folder, name)
		if p.moduleFile(filepath.Join(path, "__init__")) != "" {
			return pythonModule{folders: []string{path}}, false
		}
		if file := p.moduleFile(path); file != "" {
			return pythonModule{file: file}, false
		}
		if info, err := os.Stat(p.root + path); err == nil && info.IsDir() {
			found.folders = append(found.folders, path) // a part of a package without a file of its own
		}
	}
	return found, false
}

// moduleFile returns the file of a module by its path without the extension, or "".
func (p pythonPath) moduleFile(path string) string {
	entries, err := os.ReadDir(p.root + filepath.Dir(path))
	if err != nil {
		return ""
	}
	name := filepath.Base(path)
	for _, entry := range entries {
		tag, ok := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".so"), name)
		if ok && strings.HasSuffix(entry.Name(), ".so") &&
			(tag == "" || tag == ".abi3" || strings.HasPrefix(tag, ".cpython-") || strings.HasPrefix(tag, ".pypy")) {
			return filepath.Join(filepath.Dir(path), entry.Name())
		}
	}
	for _, ending := range []string{".py", ".pyc"} {
		if info, err := os.Stat(p.root + path + ending); err == nil && info.Mode().IsRegular() {
			return path + ending
		}
	}
	return ""
}

// real returns the real path of a file, and the environment. For a file of the standard library both are "": such a
// module runs the code of others.
func (p pythonPath) real(file string) (real, environment string) {
	for _, folder := range p.library {
		if strings.HasPrefix(file, folder+"/") &&
			!slices.ContainsFunc(p.sites, func(site string) bool { return strings.HasPrefix(file, site+"/") }) {
			return "", ""
		}
	}
	real, err := filepath.EvalSymlinks(p.root + file)
	if err != nil {
		return "", ""
	}
	return strings.TrimPrefix(real, p.root), p.environment
}

// pythonProgram returns the path by which the interpreter was started, which decides its environment and its
// standard library, and reports whether that path leads to the running program. Without such a file it returns the
// name.
func (f peerFacts) pythonProgram(root, search string) (path string, genuine bool) {
	var candidates []string
	if name := f.args[0]; strings.Contains(name, "/") {
		candidates = append(candidates, absolute(f.workingDir, name))
	} else {
		for _, folder := range strings.Split(search, ":") {
			candidates = append(candidates, absolute(f.workingDir, filepath.Join(folder, name)))
		}
	}
	for _, path := range candidates {
		info, err := os.Stat(root + path)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(root + path)
		return path, err == nil && strings.TrimPrefix(real, root) == f.executable
	}
	return f.args[0], false
}

// setScriptEnvironment sets the environment of a Python that runs a script. A Python that was started under the name
// of another file takes its standard library from there, so that name counts as injected code.
func (f *peerFacts) setScriptEnvironment(root string, env []string) {
	program, genuine := f.pythonProgram(root, lookupIn(env)("PATH"))
	if !genuine {
		f.injections = append(f.injections, "argv[0]="+program)
	}
	f.environment, _ = findPythonEnvironment(root, program)
}

// findPythonEnvironment returns the virtual environment of a program, and its pyvenv.cfg.
func findPythonEnvironment(root, program string) (folder string, config map[string]string) {
	for _, folder := range []string{filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		file, err := os.Open(root + filepath.Join(folder, "pyvenv.cfg"))
		if err != nil {
			continue
		}
		config = make(map[string]string)
		for lines := bufio.NewScanner(file); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), "=")
			config[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
		_ = file.Close() // it was only read
		return folder, config
	}
	return "", nil
}

// pythonVersion returns the name of the standard library's folder, such as "python3.12", or "" if unknown.
func pythonVersion(root, base, program string) string {
	var found []string
	for _, pattern := range []string{"/lib*/python[0-9]*/os.py", "/lib*/pypy[0-9]*/os.py"} {
		files, _ := filepath.Glob(root + base + pattern) // the pattern is valid
		for _, file := range files {
			if name := filepath.Base(filepath.Dir(file)); !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	switch {
	case slices.Contains(found, program):
		return program
	case len(found) == 1:
		return found[0]
	}
	return ""
}

// absolute returns the path as one from the root.
func absolute(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// lookupIn returns a function that returns the value of a variable in env.
func lookupIn(env []string) func(name string) string {
	return func(name string) string {
		for _, v := range env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}
