package lexicon

import "slices"

// DestructiveWords returns words and phrases of actions that lose data or cannot be undone. Unsaved or overwritten
// data is lost like deleted data. "Replace" alone is not among the words: it is a button of
// every find-and-replace dialog and can be undone, and frequent questions train people to
// say yes. "上書き" is not among them because it also means "save".
func DestructiveWords() []string {
	return slices.Concat(lossWords(), moreLanguages(), consequenceWords(), trashWords())
}

// trashWords returns phrases for a drop onto the trash, which deletes. Opening the trash loses nothing.
func trashWords() []string {
	var words []string
	for _, bin := range []string{
		"trash", "trash can", "the trash", "rubbish", "rubbish bin", "bin", "recycle bin", "wastebasket", "waste basket", "deleted items", "papierkorb", "müll", "corbeille", "poubelle",
		"papelera", "papelera de reciclaje", "cestino", "lixeira", "lixo", "reciclagem", "prullenbak", "prullenmand", "корзина", "кошик", "kosz", "koš", "kôš", "lomtár", "papperskorg", "papperskorgen",
		"papirkurv", "papirkurven", "roskakori", "çöp", "çöp kutusu", "κάδος", "סל המיחזור", "سلة المهملات", "سطل زباله", "कचरा", "रीसायकल बिन", "thùng rác", "tempat sampah", "ถังขยะ", "paperera", "coș de gunoi",
		"回收站", "废纸篓", "垃圾桶", "垃圾箱", "資源回收筒", "垃圾桶", "ゴミ箱", "ごみ箱", "휴지통",
	} {
		words = append(words, "onto "+bin)
	}
	return words
}

func lossWords() []string {
	return []string{
		"delete", "remove", "erase", "wipe", "destroy", "discard", "format", "uninstall", "reset", "quit", "close", "exit", "empty trash", "send", "pay", "buy", "purchase",
		"submit order", "place order", "transfer", "publish", "shut down", "sign out of all",
		"don't save", "dont save", "do not save", "without saving", "discarding", "lose changes", "lose your changes", "overwrite", "replace all", "replace file",
		"schließen", "beenden", "fermer", "quitter", "cerrar", "salir", "chiudi", "esci", "fechar", "sair", "sluiten", "afsluiten", "закрыть", "выйти", "завершить",
		"关闭", "退出", "關閉", "結束", "閉じる", "終了", "닫기", "종료",
		"löschen", "entfernen", "verwerfen", "formatieren", "deinstallieren", "zurücksetzen", "senden", "bezahlen", "kaufen", "überweisen", "veröffentlichen",
		"nicht speichern", "ohne speichern", "ohne zu speichern", "überschreiben", "alle ersetzen", "alles ersetzen",
		"supprimer", "effacer", "désinstaller", "réinitialiser", "envoyer", "payer", "acheter", "vider la corbeille",
		"ne pas enregistrer", "ne pas sauvegarder", "sans enregistrer", "sans sauvegarder", "écraser", "tout remplacer", "remplacer tout",
		"eliminar", "borrar", "suprimir", "desinstalar", "restablecer", "enviar", "pagar", "comprar",
		"no guardar", "sin guardar", "descartar", "sobrescribir", "reemplazar todo", "reemplazar todos",
		"elimina", "cancella", "rimuovi", "disinstalla", "invia", "paga", "acquista",
		"non salvare", "senza salvare", "senza registrare", "scarta", "sovrascrivi", "sostituisci tutto", "sostituisci tutti",
		"excluir", "apagar", "remover",
		"não salvar", "não guardar", "não gravar", "sem salvar", "sem guardar", "sem gravar", "sobrescrever", "substituir tudo", "substituir todos",
		"verwijderen", "wissen", "verzenden", "betalen", "kopen",
		"niet opslaan", "niet bewaren", "zonder opslaan", "zonder op te slaan", "verwerpen", "overschrijven", "alles vervangen",
		"удалить", "стереть", "очистить", "отправить", "оплатить", "купить",
		"не сохранять", "без сохранения", "не сохраняя", "отменить изменения", "перезаписать", "заменить все", "заменить всё",
		"删除", "移除", "清空", "格式化", "卸载", "重置", "发送", "支付", "付款", "购买", "转账", "刪除", "傳送", "購買",
		"不保存", "未保存", "不存储", "不儲存", "未儲存", "放弃更改", "放棄變更", "全部替换", "全部取代",
		"削除", "消去", "初期化", "送信", "支払", "購入", "保存しない", "保存せず", "保存しないで", "破棄", "すべて置換", "삭제", "제거", "초기화", "보내기", "결제", "구매", "저장 안 함", "저장 안함", "저장하지 않", "덮어쓰기", "모두 바꾸기",
		"deletes", "deleting", "removes", "removing", "erases", "erasing", "wipes", "wiping", "destroys", "destroying", "discards", "uninstalls", "uninstalling",
		"resets", "resetting", "quits", "quitting", "closes", "exits", "exiting", "sends", "sending", "pays", "paying", "buys", "buying", "purchasing",
		"publishes", "publishing", "transferring", "overwrites", "overwriting", "shuts down", "shutting down",
		"log out", "logout", "logs out", "logging out", "sign out", "signs out", "purge", "purges", "purging", "order now", "empty bin", "empty recycle bin", "clear all",
		"restart", "restarts", "restarting", "reboot", "reboots", "rebooting", "power off", "poweroff", "powers off", "shutdown",
		"kill", "kills", "killing", "terminate", "terminates", "terminating", "end task", "end process", "post", "reply", "reply all", "checkout",
		"unsubscribe", "unsubscribes", "unsubscribing", "deactivate", "deactivates", "deactivating", "revert", "reverts", "reverting",
		"truncate", "truncates", "truncating", "force push", "force pushes", "force pushing",
		"✕", "✖", "❌", "🗑",
		"absenden", "abschicken", "bestellen", "papierkorb leeren", "abmelden", "neu starten", "herunterfahren",
		"leave page", "leave site", "leave group", "leave meeting", "confirm deletion", "confirm removal", "empty wastebasket", "empty rubbish bin", "empty deleted items", "empty folder",
		"drop table", "drop database", "drop column", "shred", "move to trash", "forget network", "restore defaults", "abandon changes", "clear history", "clear browsing data", "clear data",
		"log off", "logoff", "logs off", "logging off", "end session", "hibernate", "complete order", "confirm order", "place your order", "confirm purchase", "confirm payment",
		"🗙", "✗", "✘", "⨯", "❎", "🚮", "⏻",
		"passer la commande", "passer commande", "finalizar compra", "finalizar la compra", "注文する", "注文を確定", "提交订单", "提交訂單", "주문하기", "заказать",
	}
}

// consequenceWords returns phrases by which a dialog announces a loss. "Deleted" alone is
// not among them: it is also the name of a folder.
func consequenceWords() []string {
	return []string{
		"be deleted", "be removed", "be erased", "be wiped", "be destroyed", "be discarded", "be overwritten", "be replaced", "be lost", "be closed", "be reset", "be uninstalled", "be terminated", "be sent", "be charged",
		"is deleted", "are deleted", "is removed", "are removed", "is erased", "are erased", "permanently deleted", "deleted permanently", "permanently removed", "permanently erased", "removed for good",
		"deletion", "removal is", "removal of", "erasure", "cannot be undone", "can't be undone", "can not be undone", "cannot undo", "can't undo", "irreversible", "irreversibly", "cannot be recovered", "can't be recovered", "unrecoverable",
		"not be saved", "won't be saved", "nicht gespeichert", "ne pas être enregistrées", "ne seront pas enregistrées", "no se guarden", "no se guardarán", "non essere salvate", "não sejam salvas", "niet opgeslagen", "未保存", "保存されない",
		"will lose", "would lose", "throw away", "throws away", "get rid of", "force stop", "force close", "abandon",
		"werden gelöscht", "wird gelöscht", "gelöscht werden", "werden entfernt", "wird entfernt", "entfernt werden", "gehen verloren", "geht verloren", "verloren gehen", "nicht rückgängig", "unwiderruflich", "endgültig", "löschung",
		"sera supprimé", "sera supprimée", "seront supprimés", "seront supprimées", "sera effacé", "seront effacés", "seront effacées", "être supprimé", "seront perdus", "seront perdues", "sera perdu", "définitivement", "irréversible", "être annulée",
		"se eliminará", "se eliminarán", "será eliminado", "será eliminada", "serán eliminados", "serán eliminadas", "se borrará", "se borrarán", "se perderá", "se perderán", "no se puede deshacer", "permanentemente",
		"verrà eliminata", "verranno eliminati", "verranno eliminate", "saranno eliminati", "andranno perse", "andranno persi", "non può essere annullata", "definitivamente",
		"será excluído", "será excluída", "serão excluídos", "serão excluídas", "serão perdidas", "serão perdidos", "não pode ser desfeita", "não pode ser desfeito",
		"wordt verwijderd", "worden verwijderd", "verwijderd worden", "gaan verloren", "gaat verloren", "niet ongedaan",
		"будет удален", "будет удалён", "будет удалена", "будет удалено", "будут удалены", "будут потеряны", "будет потеряно", "нельзя отменить", "невозможно отменить", "безвозвратно",
		"zostanie usunięty", "zostanie usunięta", "zostaną usunięte", "zostaną utracone", "nie można cofnąć",
		"无法撤销", "不可撤销", "无法恢复", "将丢失", "會遺失", "無法復原", "元に戻せません", "元に戻すことはできません", "失われます", "되돌릴 수 없", "복구할 수 없",
		"odstrániť", "vymazať", "izbriši", "obriši", "izbrisati", "odstrani", "burahin", "tanggalin",
	}
}

// moreLanguages returns words of more languages for delete, remove, send, quit, close
// without saving, and buy.
func moreLanguages() []string {
	return []string{
		"حذف", "الحذف", "احذف", "إزالة", "مسح", "إرسال", "ارسال", "أرسل", "إنهاء", "خروج", "إغلاق", "دون حفظ", "بدون حفظ", "عدم الحفظ", "شراء", "اشتر", "اشتري",
		"हटाएं", "हटाएँ", "हटाओ", "मिटाएं", "मिटाएँ", "भेजें", "बाहर निकलें", "बंद करें", "बिना सहेजे", "सहेजे बिना", "न सहेजें", "खरीदें", "ख़रीदें",
		"মুছুন", "মুছে ফেলুন", "মুছে দিন", "সরান", "অপসারণ", "পাঠান", "প্রেরণ", "প্রস্থান", "বন্ধ করুন", "সংরক্ষণ না করে", "সংরক্ষণ করবেন না", "কিনুন",
		"حذف کریں", "مٹائیں", "ہٹائیں", "بھیجیں", "باہر نکلیں", "بند کریں", "محفوظ کیے بغیر", "محفوظ نہ کریں", "خریدیں",
		"hapus", "padam", "buang", "kirim", "hantar", "keluar", "tutup", "tanpa menyimpan", "jangan simpan", "beli",
		"sil", "kaldır", "gönder", "çık", "çıkış", "kapat", "kaydetmeden", "kaydetme", "satın al",
		"xóa", "xoá", "gỡ bỏ", "gửi", "thoát", "đóng", "không lưu", "mua", "mua ngay",
		"நீக்கு", "அழி", "அகற்று", "அனுப்பு", "வெளியேறு", "மூடு", "சேமிக்காமல்", "சேமிக்க வேண்டாம்", "வாங்கு", "வாங்கவும்",
		"తొలగించు", "తొలగించండి", "తీసివేయి", "తీసివేయండి", "పంపు", "పంపండి", "నిష్క్రమించు", "నిష్క్రమించండి", "మూసివేయి", "మూసివేయండి", "సేవ్ చేయకుండా", "సేవ్ చేయవద్దు", "కొనండి", "కొనుగోలు చేయండి",
		"हटवा", "काढून टाका", "पाठवा", "बाहेर पडा", "बंद करा", "जतन न करता", "जतन करू नका", "खरेदी करा",
		"ਮਿਟਾਓ", "ਹਟਾਓ", "ਭੇਜੋ", "ਬਾਹਰ ਜਾਓ", "ਬੰਦ ਕਰੋ", "ਸੰਭਾਲੇ ਬਿਨਾਂ", "ਸੰਭਾਲੋ ਨਾ", "ਖਰੀਦੋ", "ਖ਼ਰੀਦੋ",
		"futa", "ondoa", "tuma", "toka", "funga", "bila kuhifadhi", "usihifadhi", "nunua",
		"پاک کردن", "حذف کردن", "برداشتن", "فرستادن", "بفرست", "ارسال کردن", "بستن", "بدون ذخیره", "ذخیره نکن", "ذخیره نشود", "خرید", "خریدن",
		"ลบ", "เอาออก", "ส่ง", "ออกจาก", "ปิด", "ไม่บันทึก", "โดยไม่บันทึก", "ซื้อ",
		"usuń", "skasuj", "wyślij", "zakończ", "wyjdź", "zamknij", "bez zapisywania", "nie zapisuj", "kup", "kup teraz", "kupuję",
		"видалити", "вилучити", "надіслати", "відправити", "вийти", "закрити", "без збереження", "не зберігати", "купити", "придбати",
		"διαγραφή", "διαγράψτε", "κατάργηση", "αφαίρεση", "αποστολή", "έξοδος", "τερματισμός", "κλείσιμο", "χωρίς αποθήκευση", "να μην αποθηκευτεί", "αγορά", "αγοράστε",
		"מחק", "מחיקה", "הסר", "הסרה", "שלח", "שליחה", "יציאה", "צא", "סגור", "סגירה", "ללא שמירה", "בלי לשמור", "אל תשמור", "קנה", "קנייה", "רכישה",
		"ta bort", "radera", "skicka", "avsluta", "stäng", "utan att spara", "spara inte", "köp",
		"slet", "fjern", "afslut", "luk", "uden at gemme", "gem ikke", "køb",
		"slett", "avslutt", "lukk", "uten å lagre", "ikke lagre", "kjøp",
		"poista", "lähetä", "lopeta", "sulje", "tallentamatta", "älä tallenna", "osta",
		"smazat", "odstranit", "vymazat", "odeslat", "poslat", "ukončit", "zavřít", "bez uložení", "neukládat", "koupit",
		"törlés", "törlése", "töröl", "eltávolítás", "küldés", "elküldés", "kilépés", "bezárás", "mentés nélkül", "ne mentse", "vásárlás", "megvásárlás", "megveszem",
		"șterge", "ştergere", "ștergere", "şterge", "elimină", "trimite", "ieșire", "ieşire", "închide", "închidere", "fără salvare", "fără a salva", "nu salva", "cumpără", "cumpărați",
		"выход", "вихід", "끝내기", "離開", "أنهِ", "изход", "välju", "lõpeta", "أغلق", "затваряне", "sulge", "abandonner", "odrzuć", "zahodit", "förkasta", "hylkää", "eldobás", "kassér", "απόρριψη", "відкинути",
		"放弃", "丢弃", "捨棄", "버리기", "enlever", "quitar", "изтриване", "премахване", "kustuta", "vaciar la papelera", "esvaziar lixeira", "esvaziar a lixeira", "prullenbak legen", "opróżnij kosz",
		"ゴミ箱を空にする", "휴지통 비우기", "сбросить", "リセット", "重設", "redémarrer", "riavvia", "重启", "注销", "再起動", "다시 시작",
		"suprimeix", "esborra", "treu", "envia", "surt", "tanca", "sense desar", "no desis", "no ho desis", "compra", "compra ara",
	}
}
