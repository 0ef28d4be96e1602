;;; sidecar.el --- Review what coding agents propose, over Eglot  -*- lexical-binding: t -*-

;; Author: The sidecar-ls authors
;; URL: https://github.com/sidecar-ls/sidecar-ls
;; Version: 0.1.0
;; Keywords: tools, vc
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The editor's side of the language server sidecar-ls.  Everything here is
;; plain LSP: pending hunks are diagnostics and code actions of the server, and
;; each command below is one workspace/executeCommand.
;;
;;   (require 'sidecar)
;;   (sidecar-setup)
;;   (global-set-key (kbd "C-c s") sidecar-map)

;;; Code:

(require 'cl-lib)
(require 'compile)
(require 'diff-mode)
(require 'eglot)
(require 'project)
(require 'seq)
(require 'subr-x)

(defgroup sidecar nil "Review what coding agents propose." :group 'tools)

(defcustom sidecar-command '("sidecar-ls" "serve")
  "The server and its arguments."
  :type '(repeat string))

(defcustom sidecar-settings nil
  "The server's settings as a plist, for example (:mode \"review\")."
  :type 'plist)

(defcustom sidecar-modes '(prog-mode text-mode conf-mode fundamental-mode)
  "Major modes whose buffers the server gets; derived modes count, too.
A file for which Emacs has no mode is in `fundamental-mode'."
  :type '(repeat symbol))

(defcustom sidecar-save-on-accept nil
  "Whether a buffer is saved after an accept, even if it had changes of yours.
When nil, the server's setting `edits.save' decides: by default it saves
buffers that had none."
  :type 'boolean)

;;; The server

(defclass sidecar-server (eglot-lsp-server) ()
  :documentation "The connection to sidecar-ls.")

(cl-defmethod eglot-initialization-options ((_server sidecar-server))
  "The settings, as the server wants them."
  (list :sidecar (or sidecar-settings (make-hash-table :size 1))))

(defvar eglot-confirm-server-initiated-edits) ; until Eglot 1.16
(defvar eglot-confirm-server-edits)           ; since

(cl-defmethod eglot-client-capabilities :around ((_server sidecar-server))
  "Say that this client saves documents when it is asked to, and shows conversations."
  (plist-put (copy-sequence (cl-call-next-method)) :experimental '(:sidecar (:save t :events t :pendingEdits t))))

(cl-defmethod eglot-handle-request ((_server sidecar-server) (_method (eql sidecar/save)) &key uris &allow-other-keys)
  "Save the buffers of URIS, in which an edit was applied, as they are."
  (let (saved failed)
    (seq-doseq (uri uris)
      (condition-case err
          (with-current-buffer (or (find-buffer-visiting (sidecar--path uri)) (error "It is not open"))
            (let ((before-save-hook nil)) (save-buffer))
            (push uri saved))
        (error (push (list :uri uri :error (error-message-string err)) failed))))
    (list :saved (vconcat saved) :failed (vconcat failed))))

(cl-defmethod eglot-handle-request ((server sidecar-server) (_method (eql workspace/applyEdit)) &rest _)
  "Apply without a question: SERVER has put the one that was due.
Report the new text at once and not when Emacs is idle: the server waits for it."
  (let ((eglot-confirm-server-initiated-edits nil)
        (eglot-confirm-server-edits nil))
    (prog1 (cl-call-next-method)
      (dolist (buffer (eglot--managed-buffers server))
        (with-current-buffer buffer (eglot--signal-textDocument/didChange))))))

(cl-defmethod eglot-handle-request
  ((_server sidecar-server) (_method (eql window/showMessageRequest)) &key message actions &allow-other-keys)
  "Show MESSAGE, most often a diff, in a window and ask for one of ACTIONS.
\\[keyboard-quit] is no answer, which means no."
  (let ((titles (mapcar (lambda (action) (plist-get action :title)) actions))
        (buffer (sidecar--show "*SideCar question*" message)))
    (unwind-protect
        (let ((answer (condition-case nil
                          (completing-read "SideCar asks: " titles nil t)
                        (quit ""))))
          (and (member answer titles) (list :title answer)))
      (when-let ((window (get-buffer-window buffer)))
        (quit-window t window)))))

;; Emacs's JSON reader refuses the character U+0000, and the message with it; what
;; programs print has it.  In its place comes a sign for it, of the same length.
(define-advice jsonrpc--json-read (:before (&rest _) sidecar-nul)
  (save-excursion
    (while (search-forward "\\u0000" nil t)
      (when (save-excursion (goto-char (- (point) 6)) (cl-evenp (skip-chars-backward "\\\\")))
        (replace-match "\\u2400" t t)))))

(defun sidecar--contact ()
  "What Eglot has to start."
  (cons sidecar-modes (cons 'sidecar-server sidecar-command)))

;;;###autoload
(defun sidecar-setup ()
  "Start the server with the first file of a project."
  (add-to-list 'eglot-server-programs (sidecar--contact))
  (dolist (mode sidecar-modes)
    (add-hook (intern (format "%s-hook" mode)) #'sidecar--ensure))
  (add-hook 'find-file-hook #'sidecar--ensure-fundamental))

(defun sidecar--ensure ()
  (when (and buffer-file-name (project-current))
    (eglot-ensure)))

(defun sidecar--ensure-fundamental ()
  "Start the server for a file without a major mode, which runs no hook."
  (when (and (eq major-mode 'fundamental-mode) (memq major-mode sidecar-modes))
    (sidecar--ensure)))

(defun sidecar-start ()
  "Start the server for this buffer's project, whatever its mode and Eglot's server for it."
  (interactive)
  (let* ((sidecar-modes (if (apply #'derived-mode-p sidecar-modes) sidecar-modes (cons major-mode sidecar-modes)))
         (eglot-server-programs (list (sidecar--contact))))
    (call-interactively #'eglot)))

(defvar-local sidecar-buffer-server nil "The server that tells of what this buffer shows, if it shows no file.")

(defun sidecar--server ()
  (let ((server (or sidecar-buffer-server (eglot-current-server))))
    (unless (and (cl-typep server 'sidecar-server) (jsonrpc-running-p server))
      (user-error "The sidecar-ls server does not run for this buffer; M-x sidecar-start in a file starts it"))
    server))

(defun sidecar-execute (command &optional argument)
  "Run a COMMAND of docs/protocol.md with ARGUMENT, a plist, and return its result."
  (jsonrpc-request (sidecar--server) :workspace/executeCommand
                   (list :command command :arguments (vector (or argument (make-hash-table :size 1))))
                   :timeout 600))

(defun sidecar-call (tool &optional arguments)
  "Call a TOOL with ARGUMENTS, a plist, and return its result."
  (sidecar-execute "sidecar.tools.call" (list :name tool :arguments (or arguments (make-hash-table :size 1)))))

;;; What is pending

(defun sidecar--path (uri)
  (file-truename (if (fboundp 'eglot-uri-to-path) (eglot-uri-to-path uri) (eglot--uri-to-path uri))))

(defun sidecar--edit-here (pending)
  "The edit of this buffer's file in the list PENDING."
  (seq-find (lambda (edit) (and buffer-file-name (equal (sidecar--path (plist-get edit :uri)) (file-truename buffer-file-name))))
            (plist-get pending :edits)))

(defun sidecar--lines (hunk)
  "The first and last line at which HUNK stands, counted from one.
What is only inserted stands at the line before which it comes, or the last."
  (let ((start (plist-get hunk :oldStart)) (lines (plist-get hunk :oldLines)))
    (if (> lines 0)
        (list start (+ start lines -1))
      (make-list 2 (min (1+ start) (line-number-at-pos (point-max)))))))

(defun sidecar--decide (what more)
  "Accept or reject, as WHAT says, the hunk at point, with MORE in the argument.
Without one there, only go to the next: nothing is decided unseen."
  (let* ((pending (sidecar-execute "sidecar.review.list"))
         (hunks (append (plist-get (sidecar--edit-here pending) :hunks) nil))
         (line (line-number-at-pos nil t))
         (here (seq-find (lambda (hunk) (pcase-let ((`(,first ,last) (sidecar--lines hunk))) (<= first line last))) hunks)))
    (cond
     (here (sidecar--review what `(:hunks [,(plist-get here :id)] :revision ,(plist-get pending :revision) ,@more)))
     ((null hunks) (message "SideCar: nothing is pending in this file"))
     (t (let ((firsts (mapcar (lambda (hunk) (car (sidecar--lines hunk))) hunks)))
          (goto-char (point-min))
          (forward-line (1- (or (seq-find (lambda (first) (> first line)) firsts) (car firsts))))
          (message "SideCar: here is a pending hunk; repeat the command to decide on it"))))))

(defun sidecar--review (what argument)
  "Run accept, reject or undo, as WHAT says, with ARGUMENT, and tell what failed."
  (let ((result (sidecar-execute (concat "sidecar.review." what) argument)))
    (when sidecar-save-on-accept
      (seq-doseq (uri (plist-get result :accepted))
        (when-let ((buffer (find-buffer-visiting (sidecar--path uri))))
          (with-current-buffer buffer (when (buffer-modified-p) (save-buffer))))))
    (seq-doseq (failure (plist-get result :failed))
      (display-warning 'sidecar (format "%s: %s" (plist-get failure :uri) (plist-get failure :error))))
    (seq-doseq (commit (plist-get result :commits))
      (when (plist-get commit :error)
        (display-warning 'sidecar (format "commit \"%s\": %s" (plist-get commit :message) (plist-get commit :error)))))
    result))

(defun sidecar--reason (arg)
  "With ARG, a prefix argument, ask for the reason that the agent is told."
  (when arg (list :reason (read-string "Reason: "))))

(defun sidecar--file (what more)
  (let ((edit (sidecar--edit-here (sidecar-execute "sidecar.review.list"))))
    (unless edit (user-error "Nothing is pending in this file"))
    (sidecar--review what `(:uris [,(plist-get edit :uri)] ,@more))))

(defun sidecar-accept ()
  "Accept the pending hunk at point, or go to the next."
  (interactive)
  (sidecar--decide "accept" nil))

(defun sidecar-reject (arg)
  "Reject the pending hunk at point, or go to the next.  With ARG, tell a reason."
  (interactive "P")
  (sidecar--decide "reject" (sidecar--reason arg)))

(defun sidecar-accept-file ()
  "Accept everything that is pending for this file."
  (interactive)
  (sidecar--file "accept" nil))

(defun sidecar-reject-file (arg)
  "Reject everything that is pending for this file.  With ARG, tell a reason."
  (interactive "P")
  (sidecar--file "reject" (sidecar--reason arg)))

(defun sidecar-accept-all ()
  "Accept everything that is pending."
  (interactive)
  (when (or noninteractive (y-or-n-p "Accept all pending changes? "))
    (sidecar--review "accept" nil)))

(defun sidecar-reject-all (arg)
  "Reject everything that is pending.  With ARG, tell a reason."
  (interactive "P")
  (when (or noninteractive (y-or-n-p "Reject all pending changes? "))
    (sidecar--review "reject" (sidecar--reason arg))))

(defun sidecar--turn (what to)
  "Run undo or redo, as WHAT says, down to the entry TO, and tell what it did."
  (let ((result (sidecar--review what (and to (not (string-empty-p to)) (list :to to)))))
    (message "SideCar: %s %s" (if (equal (plist-get result :what) "redo") "made again" "taken back")
             (if (seq-empty-p (plist-get result :restored)) "nothing"
               (mapconcat (lambda (uri) (file-relative-name (sidecar--path uri))) (plist-get result :restored) ", ")))
    result))

(defun sidecar-undo (&optional to)
  "Undo the last edit of an agent, or decision about one; again, the one before.
With a prefix argument, ask for the entry TO which everything is taken back."
  (interactive (list (and current-prefix-arg (read-string "Entry: "))))
  (sidecar--turn "undo" (if (or (null to) (string-empty-p to)) "last" to)))

(defun sidecar-redo (&optional to)
  "Make again what was undone last, or everything down to the entry TO."
  (interactive (list (and current-prefix-arg (read-string "Entry: "))))
  (sidecar--turn "redo" to))

(defun sidecar-history ()
  "Show the edits of agents that can be undone, with their ids."
  (interactive)
  (let ((entries (plist-get (sidecar-execute "sidecar.review.history") :entries)))
    (if (seq-empty-p entries) (message "SideCar: nothing can be undone")
      (sidecar--show "*SideCar history*"
                     (mapconcat (lambda (entry)
                                  (format "%s  %s  %s, made by %s: %s  %s" (plist-get entry :id) (or (plist-get entry :at) "") (plist-get entry :what) (plist-get entry :tool)
                                          (mapconcat (lambda (file) (format "%s %s +%d -%d" (plist-get file :kind) (plist-get file :path) (plist-get file :added) (plist-get file :removed)))
                                                     (plist-get entry :files) ", ")
                                          (or (plist-get entry :why) "")))
                                entries "\n")))))

(defun sidecar-verify (arg)
  "Run the tests over what is pending, without accepting it.
With ARG, ask for a command to run instead."
  (interactive "P")
  (let* ((argument (when arg (list :command (read-string "Command: "))))
         (result (sidecar-execute "sidecar.review.verify" argument))
         (ok (eq (plist-get result :ok) t))
         (none (and ok (equal (plist-get result :passed) 0) (equal (plist-get result :failed) 0))))
    (message "SideCar: %s: %s%s" (cond (none "not tested, no test was run") (ok "tested") (t "tests failed")) (plist-get result :command)
             (if (and (not none) (plist-get result :passed)) (format " (%s passed, %s failed)" (plist-get result :passed) (plist-get result :failed)) ""))
    (unless ok
      (with-current-buffer (get-buffer-create "*SideCar tests*")
        (let ((inhibit-read-only t))
          (erase-buffer)
          (insert (plist-get result :output))
          (goto-char (point-min))
          (special-mode))
        (display-buffer (current-buffer))))
    result))

(defun sidecar-review (&optional session)
  "List all pending hunks, or those of SESSION; \\[next-error] visits them."
  (interactive)
  (let ((root (project-root (project-current)))
        (pending (sidecar-execute "sidecar.review.list" (and session (list :session session)))))
    (with-current-buffer (get-buffer-create "*SideCar review*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (setq default-directory root)
        (insert "Pending changes\n\n")
        (seq-doseq (edit (plist-get pending :edits))
          (seq-doseq (hunk (plist-get edit :hunks))
            (insert (format "%s:%d: %s +%d -%d %s: %s\n" (plist-get edit :path) (max 1 (plist-get hunk :oldStart)) (plist-get edit :kind)
                            (plist-get hunk :newLines) (plist-get hunk :oldLines) (plist-get hunk :state) (sidecar--gist hunk)))))
        (seq-doseq (commit (plist-get pending :commits)) ; or a branch, a tag, a switch
          (insert (if (plist-get commit :ref) "" "commit: ") (car (split-string (plist-get commit :message) "\n")) ", waits"
                  (if-let ((why (plist-get commit :error))) (concat ": " why) "") "\n"))
        (goto-char (point-min))
        (compilation-mode "SideCar"))
      (setq next-error-last-buffer (current-buffer))
      (display-buffer (current-buffer)))))

(defun sidecar--gist (hunk)
  "The first line that HUNK adds, else the first that it removes."
  (let ((text (plist-get hunk :text)))
    (string-trim (if (string-match "^[+]\\(.*\\)$" text) (match-string 1 text)
                   (concat "delete " (and (string-match "^-\\(.*\\)$" text) (match-string 1 text)))))))

(defun sidecar-diff ()
  "Show everything that is pending as a diff."
  (interactive)
  (let ((diff (plist-get (sidecar-execute "sidecar.review.diff") :diff)))
    (if (string-empty-p diff) (message "SideCar: nothing is pending") (sidecar--show "*SideCar diff*" diff))))

(defun sidecar-set-mode (mode)
  "Set the MODE: what is asked about, and where edits go."
  (interactive (list (completing-read (format "Mode (now %s): " (plist-get (sidecar-execute "sidecar.mode.get") :mode))
                                      (mapcar (lambda (mode) (plist-get mode :name)) (plist-get (sidecar-execute "sidecar.mode.list") :modes)) nil t)))
  (message "SideCar: mode %s" (plist-get (sidecar-execute "sidecar.mode.set" (list :mode mode)) :mode)))

(defun sidecar-tool (name arguments)
  "Call the tool NAME with ARGUMENTS, which are JSON, and show the result."
  (interactive (list (completing-read "Tool: " (mapcar (lambda (tool) (plist-get tool :name)) (plist-get (sidecar-execute "sidecar.tools.list") :tools)) nil t)
                     (read-string "Arguments (JSON): " "{}")))
  (let ((arguments (json-parse-string arguments :object-type 'plist :null-object nil :false-object :json-false)))
    (sidecar--show "*SideCar tool*" (plist-get (sidecar-call name arguments) :content))))

(defun sidecar--show (name text)
  "Show TEXT in the buffer NAME, and return it."
  (with-current-buffer (get-buffer-create name)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert text)
      (goto-char (point-min))
      (diff-mode)
      (read-only-mode))
    (display-buffer (current-buffer))
    (current-buffer)))

(defvar sidecar-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("a" . sidecar-accept) ("r" . sidecar-reject) ("f" . sidecar-accept-file) ("F" . sidecar-reject-file)
                     ("A" . sidecar-accept-all) ("R" . sidecar-reject-all) ("u" . sidecar-undo) ("v" . sidecar-verify) ("l" . sidecar-review) ("o" . sidecar-output)
                     ("d" . sidecar-diff) ("m" . sidecar-set-mode) ("t" . sidecar-tool)
                   ("g" . sidecar-agent) ("G" . sidecar-agent-runs) ("@" . sidecar-agent-attach) ("s" . sidecar-skill) ("!" . sidecar-agent-attach-diagnostics)))
      (define-key map key command))
    map)
  "The commands, for a prefix key.")
(fset 'sidecar-map sidecar-map)

(provide 'sidecar)
(require 'sidecar-agent)
(require 'sidecar-output)
;;; sidecar.el ends here
