package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// refuse records a value that is not valid.
func (f *lookup) refuse(what, from string, why error) {
	f.refusals = append(f.refusals, RejectedValue{label(what), from, label(why.Error())})
}

// alwaysAlive is the alive function of values that cannot disappear.
func alwaysAlive() bool { return true }

// lookForBus looks up the session bus.
func (r *Detector) lookForBus() *lookup {
	f := &lookup{}
	var why error
	try := func(address, from string) bool {
		if address == "" || len(f.values) > 0 {
			return len(f.values) > 0
		}
		var path string
		if path, why = r.checkBus(context.Background(), address); why != nil {
			f.refuse(address, from, why)
			return false
		}
		f.values, f.alive = []Value{{busName, address, from}}, socketAlive(path)
		return true
	}
	own := r.cfg.Getenv(busName)
	if try(own, ownEnvironment) {
		return f
	}
	_, isForeign := errors.AsType[*foreignError](why)
	if folder := r.cfg.Getenv(folderName); filepath.IsAbs(folder) {
		if _, err := os.Lstat(filepath.Join(folder, "bus")); err == nil &&
			try(busIn(folder), ownEnvironment+", "+folderName) {
			return f
		}
	}
	if !r.isPrivate() {
		for _, env := range r.facts().environments() {
			try(env.values[busName], env.from)
		}
		if folder, err := r.userFolder(); err == nil {
			try(busIn(folder), folder)
		} else if len(f.values) == 0 {
			f.refuse("the bus of the login", r.cfg.RunUser, err)
		}
	}
	if len(f.values) == 0 && own != "" && !isForeign {
		// No process listens now. The person set the address, so the error should name it.
		f.values = []Value{{busName, own, ownEnvironment}}
	}
	return f
}

// lookForFolder looks up the runtime folder.
func (r *Detector) lookForFolder() *lookup {
	if folder := r.cfg.Getenv(folderName); filepath.IsAbs(folder) {
		return &lookup{values: []Value{{folderName, folder, ownEnvironment}}, alive: alwaysAlive}
	}
	f := &lookup{}
	if r.isPrivate() {
		return f
	}
	folder, err := r.userFolder()
	if err != nil {
		f.refuse(r.cfg.RunUser, "this computer", err)
		return f
	}
	f.values = []Value{{folderName, folder, "this computer"}}
	f.alive = func() bool {
		_, err := r.userFolder()
		return err == nil
	}
	return f
}

// lookForLocale looks up the locale. All variables come from the first source that has any.
func (r *Detector) lookForLocale() *lookup {
	if own := r.ownValues(localeNames()...); len(own) > 0 {
		return &lookup{values: own, alive: alwaysAlive}
	}
	f := &lookup{}
	if r.isPrivate() {
		return f
	}
	for _, env := range r.facts().environments() {
		for _, name := range localeNames() {
			if value := env.values[name]; isLocale(value) {
				f.values = append(f.values, Value{name, value, env.from})
			}
		}
		if len(f.values) > 0 {
			f.alive = alwaysAlive
			break
		}
	}
	return f
}

// isLocale reports whether a value names a locale, such as "de_DE.UTF-8@euro", or several
// as LANGUAGE does, and not a path.
func isLocale(value string) bool {
	return value != "" && len(value) <= 200 && !strings.ContainsFunc(value, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("_.@:-+,=", c)
	})
}
