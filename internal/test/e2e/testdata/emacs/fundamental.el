;;; A file for which Emacs has no mode gets the server, and the commands work there.  -*- lexical-binding: t -*-
(load (expand-file-name "common.el" (getenv "SIDECAR_TESTDATA")) nil t)
(setq auto-mode-alist nil)
(setq sidecar-settings '(:mode "review")
      sidecar-command (list (getenv "SIDECAR_LS") "serve" "--log-file" (getenv "SIDECAR_LOG")))
(defun t/reviews (line from to)
  "Have FROM changed to TO in a LINE of this buffer, and accept that."
  (t/ok (eq major-mode 'fundamental-mode) "the file has no mode")
  (t/await "the server runs" #'eglot-current-server)
  (t/ok (eq (plist-get (sidecar-call "edit_file" `(:path "main.go" :search ,from :replace ,to)) :ok) t) "an edit waits")
  (t/await "a note for the hunk" (lambda () (= (length (t/notes)) 1)))
  (t/goto line)
  (sidecar-accept)
  (t/await "the hunk is in the buffer" (lambda () (string-suffix-p to (t/line line))))
  (set-buffer-modified-p nil)
  (eglot-shutdown (eglot-current-server) nil 20)
  (kill-buffer))

;; By hand, where the user left the mode out.
(let ((sidecar-modes '(prog-mode)))
  (find-file "main.go")
  (t/ok (condition-case e (progn (sidecar-accept) nil) (user-error (string-match-p "M-x sidecar-start" (error-message-string e)))) "it says what to do")
  (sidecar-start)
  (t/reviews 12 "\"you\"" "\"world\""))

;; By itself. The hook that Eglot waits for never runs in batch mode.
(sidecar-setup)
(find-file "main.go")
(run-hooks 'post-command-hook)
(t/reviews 5 "\"hello\"" "\"good morning\"")
(t/say "done")
