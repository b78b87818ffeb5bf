// The windows of GNOME Shell for the AAI gateway, over D-Bus. There are no pictures: every program of the session can call this.
import Gio from 'gi://Gio';
import Meta from 'gi://Meta';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';

const NAME = 'org.aai.gateway.Windows', PATH = '/org/aai/gateway/Windows';
const INTERFACE = `<node><interface name="${NAME}">
	<method name="List"><arg type="s" direction="out"/></method>
	<method name="Pointer"><arg type="s" direction="out"/></method>
	<method name="Act"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="b" direction="out"/></method>
</interface></node>`;
const T = Meta.WindowType;
const POPUPS = [T.DROPDOWN_MENU, T.POPUP_MENU, T.TOOLTIP, T.NOTIFICATION, T.COMBO, T.DND, T.OVERRIDE_OTHER];

// activate brings a window to the front. The overview gives the focus back to another window at its end.
function activate(w) {
	if (Main.overview.visible) {
		const id = Main.overview.connect('hidden', () => {
			Main.overview.disconnect(id);
			w.activate(global.get_current_time());
		});
	}
	Main.activateWindow(w);
}

export default class {
	enable() {
		this.object = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
		this.object.export(Gio.DBus.session, PATH);
		this.name = Gio.bus_own_name_on_connection(Gio.DBus.session, NAME, Gio.BusNameOwnerFlags.NONE, null, null);
	}

	disable() {
		Gio.bus_unown_name(this.name);
		this.object.unexport();
	}

	List() {
		const rect = r => ({x: r.x, y: r.y, width: r.width, height: r.height});
		// The overview, a menu or a question of the shell takes the pointer from all windows.
		const taken = Main.overview.visible || Main.modalCount > 0;
		const workspace = global.workspace_manager.get_active_workspace();
		return JSON.stringify(global.get_window_actors().map((actor, stack) => {
			const w = actor.meta_window, frame = w.get_frame_rect(), client = w.frame_rect_to_client_rect(frame);
			return {
				id: String(w.get_id()), pid: w.get_pid(), title: (w.title ?? '').slice(0, 500), class: (w.wm_class ?? '').slice(0, 500),
				frame: rect(frame), client: rect(client.width > frame.width ? frame : client), buffer: rect(w.get_buffer_rect()), stack,
				active: w.has_focus(), minimized: w.minimized, modal: w.get_window_type() === T.MODAL_DIALOG,
				popup: POPUPS.includes(w.get_window_type()),
				shown: !taken && !w.minimized && w.located_on_workspace(workspace),
			};
		}));
	}

	Pointer() {
		return JSON.stringify(global.get_pointer().slice(0, 2));
	}

	Act(id, what) {
		const w = global.get_window_actors().map(a => a.meta_window).find(w => String(w.get_id()) === id);
		switch (w && what) {
		case 'activate': activate(w); return true;
		case 'raise': w.raise(); return true;
		case 'restore': w.unminimize(); return true;
		case 'minimize': w.minimize(); return true;
		case 'close': w.delete(global.get_current_time()); return true;
		}
		return false;
	}
}
