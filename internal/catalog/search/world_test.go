package search_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/descriptors"
	"github.com/gybob/aai-gateway/internal/catalog"
)

// inert compiles every recipe to an Action without effect.
type inert struct{}

func (inert) Compile(*aai.Recipe) (aai.Action, error) { return noResult, nil }

func noResult(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }

// shippedApps returns the apps of the shipped descriptors, parsed as the gateway does.
func shippedApps(t testing.TB) []*aai.App {
	t.Helper()
	folder := t.TempDir()
	assert.NilError(t, os.CopyFS(folder, descriptors.FS()))
	c := catalog.New(catalog.Config{
		Places: []catalog.Place{catalog.Folders(folder)}, HostPlatform: "linux",
		Drivers: map[string]aai.Driver{"dbus": inert{}, "ipc": inert{}},
	})
	all := c.Apps()
	assert.Assert(t, is.Len(all, len(descriptors.IDs())), "%d", len(descriptors.IDs()))
	return slices.Clone(all)
}

// realApps returns the shipped apps that the requests were written for.
func realApps(t testing.TB) []*aai.App {
	t.Helper()
	meant := requestedApps()
	apps := slices.DeleteFunc(shippedApps(t), func(app *aai.App) bool { return !slices.Contains(meant, app.ID) })
	assert.Assert(t, is.Len(apps, len(meant)), "%d", len(meant))
	return apps
}

// requestedApps returns the apps that the requests were written for. Later apps, such as another
// player, could be equally right results.
func requestedApps() []string {
	return []string{
		"io.mpv.Mpv", "org.a11y.Bus", "org.dunstproject.dunst", "org.freedesktop.DBus", "org.freedesktop.Notifications", "org.freedesktop.UPower",
		"org.freedesktop.hostname1", "org.gnome.Calculator", "org.gtk.vfs.Daemon", "org.xfce.Thunar", "org.xfce.Tumbler", "org.xfce.Xfconf", "org.xfce.mousepad",
	}
}

// distractorApps returns apps of other domains that share common words with the real ones: files,
// names, settings, batteries and notifications. It is deterministic.
func distractorApps(n int) []*aai.App {
	random := rand.New(rand.NewPCG(1, 2))
	trades := []struct{ name, things string }{
		{"Code hosting", "repository,issue,pull request,branch,commit,release,file of a repository,review,webhook,notification rule"},
		{"Customer relations", "contact,deal,account,note,task,call,email template,pipeline,report,field setting"},
		{"Cloud storage", "bucket,object,access key,lifecycle rule,folder share,file version,upload,quota,trash policy,signed link"},
		{"Calendar", "event,attendee,meeting room,reminder,availability,calendar share,time zone setting,invitation,series,holiday"},
		{"Mail", "message,draft,label,filter,attachment,thread,signature,mailbox,contact group,mail notification"},
		{"Databases", "table,row,query,index,user role,backup,connection,schema change,lock,slow query report"},
		{"Payments", "invoice,refund,customer,subscription,card,dispute,payout,tax rate,coupon,balance"},
		{"Monitoring", "alert,dashboard,metric,silence,incident,log query,monitor,service level,host group,status page"},
		{"Home automation", "lamp,thermostat,camera,sensor battery level,scene,door lock,room,blind,energy meter,speaker group"},
		{"Fleet of vehicles", "vehicle,trip,driver,vehicle battery report,charging station,service visit,geofence,fuel card,document,tyre"},
		{"Weather", "forecast,station,warning,radar picture,history of a day,air quality,pollen count,sunrise,tide,city"},
		{"Shop", "product,order,stock level,picture of a product,return,shipment,discount,category,review,gift card"},
		{"Translation", "document,glossary,language pair,project,segment,quote,translator,term,memory,style guide"},
		{"Photographs", "album,photo,face,tag,place,edit,print order,slide show,share,duplicate"},
		{"Games", "player,match,score,achievement,inventory,level,friend,season,server region,replay"},
	}
	verbs := []string{"list", "get", "create", "update", "delete", "search", "export", "copy", "move", "rename", "open", "close", "watch", "set", "reset"}
	tails := []string{"", " by its id", " in a project", " with a filter", " and its history", " for the current user", ", newest first", " in the workspace", " at once", " with its settings"}
	apps := make([]*aai.App, n)
	for i := range apps {
		trade := trades[i%len(trades)]
		app := &aai.App{
			ID: fmt.Sprintf("com.example.noise%d", i), Name: fmt.Sprintf("%s %d", trade.name, i), Digest: fmt.Sprintf("d%d", i),
			Description: "Works with everything of " + strings.ToLower(trade.name) + ": " + strings.ReplaceAll(trade.things, ",", ", ") + ".",
		}
		things := strings.Split(trade.things, ",")
		for _, j := range random.Perm(len(things) * len(verbs))[:12] {
			thing, verb := things[j%len(things)], verbs[j/len(things)]
			app.Tools = append(app.Tools, &aai.Tool{
				Name:        verb + "_" + strings.ReplaceAll(thing, " ", "_"),
				Description: strings.ToUpper(verb[:1]) + verb[1:] + " a " + thing + tails[random.IntN(len(tails))] + ".",
				Effect:      aai.Reads, Run: noResult, Params: aai.Schema{Order: []string{"id", "limit", "name"}},
			})
		}
		apps[i] = app
	}
	return apps
}

// A searchCase is a request, and the tools of which any is right.
type searchCase struct {
	language, words string
	tools           map[string]bool
}

func searchCases(t testing.TB) []searchCase {
	t.Helper()
	return searchCasesIn(t, "requests.txt")
}

func searchCasesIn(t testing.TB, file string) []searchCase {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	assert.NilError(t, err)
	defer f.Close() //nolint:errcheck // it was read
	var all []searchCase
	for lines := bufio.NewScanner(f); lines.Scan(); {
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) != 3 || strings.HasPrefix(parts[0], "#") {
			continue
		}
		w := searchCase{parts[0], parts[1], make(map[string]bool)}
		for _, tool := range strings.Split(parts[2], ",") {
			w.tools[tool] = true
		}
		all = append(all, w)
	}
	return all
}
