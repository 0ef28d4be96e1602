;;; sidecar-agent.el --- Conversations with agents  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; M-x sidecar-agent starts one of the user's agents and shows the conversation;
;; M-x sidecar-agent-runs shows one that there is.

;;; Code:

(require 'sidecar-agent-view)

(defvar sidecar-agent--latest nil "The view that was shown last.")

(defun sidecar-agent--server ()
  "The server to ask, which must be one that drives agents."
  (let* ((server (sidecar--server)) (commands (plist-get (plist-get (eglot--capabilities server) :executeCommandProvider) :commands)))
    (unless (seq-contains-p commands "sidecar.agent.list") (user-error "This sidecar-ls drives no agents; install a newer one"))
    server))

(defun sidecar-agent--current ()
  "The view of this buffer, else the one that was shown last."
  (or sidecar-agent--view
      (and sidecar-agent--latest (buffer-live-p (sidecar-agent-v-buffer sidecar-agent--latest)) sidecar-agent--latest)
      (user-error "No conversation is open: M-x sidecar-agent starts one, M-x sidecar-agent-runs lists them")))

;;; Choosing

(defun sidecar-agent--choose (prompt items describe)
  "Ask with PROMPT for one of ITEMS, shown as DESCRIBE says.
Names begin as they are typed, in any case; a number ends those that are alike."
  (let* ((completion-ignore-case t)
         (seen (make-hash-table :test #'equal))
         (named (mapcar (lambda (item)
                          (let* ((name (funcall describe item)) (n (cl-incf (gethash name seen 0))))
                            (cons (if (> n 1) (format "%s (%d)" name n) name) item)))
                        items))
         (table (lambda (string predicate action)
                  (if (eq action 'metadata) '(metadata (display-sort-function . identity)) (complete-with-action action named string predicate)))))
    (cdr (assoc (completing-read prompt table nil t) named))))

(defun sidecar-agent--usable (agent)
  (and (eq (plist-get agent :available) t) (not (equal (plist-get agent :kind) "program"))))

(defun sidecar-agent--described (agent)
  "AGENT in words, with why it can't be used."
  (concat (sidecar-agent--line (plist-get agent :title) 80)
          (if (sidecar-agent--some (plist-get agent :version)) (concat " " (sidecar-agent--line (plist-get agent :version) 20)) "")
          (if (sidecar-agent--usable agent) ""
            (concat ": " (sidecar-agent--line (or (sidecar-agent--some (plist-get agent :why)) "it can only be run in a terminal: sidecar-ls run") 200)))))

(defun sidecar-agent--consents (agent)
  "Show what AGENT sees of the user's, and ask whether it may."
  (let* ((title (sidecar-agent--line (plist-get agent :title) 80))
         (buffer (sidecar--show "*SideCar consent*"
                                (concat title " may see of yours:\n\n"
                                        (mapconcat (lambda (what) (concat "  " (sidecar-agent--line what 400) "\n")) (or (append (or (plist-get agent :shown) (plist-get agent :sees)) nil) '("nothing")) "")
                                        "\nIt may not see the rest of your home directory. In the project it sees what is not secret,\nand what it writes waits for review.\n"))))
    (unwind-protect (equal (completing-read (format "Allow %s to see this, from now on? " title) '("Start" "Cancel") nil t) "Start")
      (when-let ((window (get-buffer-window buffer))) (quit-window t window)))))

;;;###autoload
(defun sidecar-agent ()
  "Choose an agent, start it, and show the conversation."
  (interactive)
  (let* ((server (sidecar-agent--server)) (sidecar-buffer-server server)
         (agents (append (plist-get (sidecar-execute "sidecar.agent.list") :agents) nil))
         (sorted (append (seq-filter #'sidecar-agent--usable agents) (seq-remove #'sidecar-agent--usable agents)))
         (agent (if sorted (sidecar-agent--choose "Start an agent: " sorted #'sidecar-agent--described)
                  (user-error "There are no agents; the setting agents adds some")))
         (consented (eq (plist-get agent :consented) t)))
    (unless (sidecar-agent--usable agent) (user-error "%s" (sidecar-agent--described agent)))
    (when (or consented (sidecar-agent--consents agent))
      (let ((run (sidecar-execute "sidecar.agent.run" `(:agent ,(plist-get agent :name) ,@(unless consented '(:consent t))))))
        (sidecar-agent-prompt (sidecar-agent--open (plist-get run :run) server))))))

;;;###autoload
(defun sidecar-agent-runs ()
  "Choose a conversation, also an earlier one, and show it."
  (interactive)
  (let* ((server (sidecar-agent--server)) (sidecar-buffer-server server)
         (runs (sort (append (plist-get (sidecar-execute "sidecar.agent.runs" '(:all t)) :runs) nil)
                     (lambda (a b) (string> (plist-get a :openedAt) (plist-get b :openedAt))))))
    (unless runs (user-error "There are no runs yet: M-x sidecar-agent starts one"))
    (sidecar-agent--open
     (plist-get (sidecar-agent--choose
                 "Run: " runs
                 (lambda (run)
                   (let ((state (plist-get run :state)) (pending (or (plist-get run :pending) 0)))
                     (concat (sidecar-agent--line (plist-get run :title) 60) " · " (sidecar-agent--line (plist-get run :agent) 40) " · " state
                             (if (> pending 0) (format " · %d to review" pending) "")
                             (if (or (equal state "ended") (eq (plist-get run :attached) t)) "" " · resumes with the next prompt")))))
                :run)
     server)))

(defun sidecar-agent--open (run server)
  "Show the conversation of RUN at SERVER, and return its view."
  (let ((view (gethash run sidecar-agent--views)))
    (unless (and view (buffer-live-p (sidecar-agent-v-buffer view)))
      (setq view (sidecar-agent--make run (sidecar-agent--root server) server))
      (sidecar-agent--rebuild view))
    (setq sidecar-agent--latest view)
    (pop-to-buffer (sidecar-agent-v-buffer view))
    view))

(defun sidecar-agent--make (run root server)
  "A view of RUN of the project ROOT, told of by SERVER, in a buffer of its own."
  (let ((view (sidecar-agent-view-make :run run :root root :server server :buffer (generate-new-buffer (format "*SideCar agent %s*" run)))))
    (with-current-buffer (sidecar-agent-v-buffer view)
      (sidecar-agent-mode)
      (setq sidecar-agent--view view sidecar-buffer-server server default-directory (file-name-as-directory root))
      (add-hook 'kill-buffer-hook
                (lambda ()
                  (remhash run sidecar-agent--views)
                  (when (buffer-live-p (sidecar-agent-v-prompt view)) (kill-buffer (sidecar-agent-v-prompt view))))
                nil t))
    (sidecar-agent--clear view)
    (puthash run view sidecar-agent--views)))

;;; Questions

(defun sidecar-agent--question ()
  "The open question at point."
  (let ((block (sidecar-agent--block-at (point))))
    (if (and block (eq (sidecar-agent-b-kind block) 'question) (not (sidecar-agent-b-closed block))) block
      (user-error "No question is here"))))

(defun sidecar-agent--answer (question id kind &optional done)
  "Answer QUESTION by ID, an option of the KIND, and call DONE.
What can't be undone is allowed by a typed word only."
  (let ((view (sidecar-agent--current)))
    (if (and (sidecar-agent-b-irrecoverable question) (not (string-prefix-p "reject" (or kind "")))
             (not (equal (read-string "This can't be undone. Type yes to allow it: ") "yes")))
        (message "SideCar: not answered")
      (sidecar-agent--ask view "sidecar.agent.answer" (list :run (sidecar-agent-v-run view) :question (sidecar-agent-b-id question) :answer id)
                          (lambda (_) (when done (funcall done view)))))))

(defun sidecar-agent-answer ()
  "Answer the question at point by the key that this was called by."
  (interactive)
  (let* ((question (sidecar-agent--question)) (options (sidecar-agent-b-options question)) (key (key-description (vector last-command-event)))
         (at (or (seq-position (sidecar-agent--keys question) key)
                 (let ((n (string-to-number key))) (and (<= 1 n (length options)) (1- n))))))
    (cond (at (let ((option (nth at options))) (sidecar-agent--answer question (plist-get option :id) (plist-get option :kind))))
          ((and (null options) (equal key "a")) (sidecar-agent-answer-by-choice))
          (t (user-error "The question has no answer for %s" key)))))

(defun sidecar-agent-answer-by-choice ()
  "Choose among the answers of the question at point, or type one."
  (interactive)
  (let* ((question (sidecar-agent--question)) (options (sidecar-agent-b-options question)) (text (sidecar-agent--line (sidecar-agent-b-text question) 200)))
    (if (null options) (sidecar-agent--answer question (read-string (concat text ": ")) nil)
      (let ((option (sidecar-agent--choose (concat text ": ") options (lambda (option) (sidecar-agent--line (plist-get option :label) 80)))))
        (sidecar-agent--answer question (plist-get option :id) (plist-get option :kind))))))

(defun sidecar-agent-deny-with-reason ()
  "Deny the question at point, and say why: the agent hears it next."
  (interactive)
  (let* ((question (sidecar-agent--question)) (no (or (sidecar-agent--denial question) (user-error "The question has no answer that denies once")))
         (reason (read-string "Reason: ")))
    (sidecar-agent--answer question (plist-get no :id) (plist-get no :kind)
                           (lambda (view)
                             (unless (string-blank-p reason)
                               (sidecar-agent--ask view "sidecar.agent.prompt" (list :run (sidecar-agent-v-run view) :text reason :when "steer") nil))))))

(defvar sidecar-agent-question-map
  (let ((map (make-sparse-keymap)))
    (dolist (key '("a" "s" "d" "1" "2" "3" "4" "5" "6" "7" "8" "9")) (define-key map key #'sidecar-agent-answer))
    (define-key map "r" #'sidecar-agent-deny-with-reason)
    (define-key map (kbd "RET") #'sidecar-agent-answer-by-choice)
    map)
  "Keys that act on the lines of a question only.")

;;; In a conversation

(defun sidecar-agent--control (what)
  "Run the command WHAT for the current run."
  (let ((view (sidecar-agent--current)))
    (sidecar-agent--ask view (concat "sidecar.agent." what) (list :run (sidecar-agent-v-run view)) nil)))

(defun sidecar-agent-stop () "Stop the agent; what it said stays." (interactive) (sidecar-agent--control "cancel"))
(defun sidecar-agent-pause () "Let prompts wait." (interactive) (sidecar-agent--control "pause"))
(defun sidecar-agent-resume () "Let prompts be heard again." (interactive) (sidecar-agent--control "resume"))
(defun sidecar-agent-close ()
  "End the conversation; what the agent wrote stays to be reviewed."
  (interactive)
  (when (or noninteractive (y-or-n-p "End this run? What it wrote stays to be reviewed. ")) (sidecar-agent--control "close")))

(defun sidecar-agent-review ()
  "List what the agent changed and nobody has decided on; \\[next-error] visits it."
  (interactive)
  (with-current-buffer (sidecar-agent-v-buffer (sidecar-agent--current))
    (sidecar-review (sidecar-agent-m-session (sidecar-agent-v-model sidecar-agent--view)))))

(defun sidecar-agent--item ()
  (or (get-text-property (point) 'sidecar-agent-item) (user-error "No queued prompt is here")))

(defun sidecar-agent-withdraw ()
  "Withdraw the queued prompt at point."
  (interactive)
  (sidecar-agent--ask sidecar-agent--view "sidecar.agent.withdraw" (list :run (sidecar-agent-v-run sidecar-agent--view) :item (plist-get (sidecar-agent--item) :item)) nil))

(defun sidecar-agent-edit-queued ()
  "Put the queued prompt at point into the prompt; sending it changes it."
  (interactive)
  (let ((item (sidecar-agent--item)) (view sidecar-agent--view))
    (sidecar-agent-prompt view)
    (unless (string-blank-p (buffer-string)) (user-error "Send or delete what is written first"))
    (insert (plist-get item :text))
    (setf (sidecar-agent-v-editing view) (plist-get item :item))))

(defun sidecar-agent--file (view name)
  "The file NAME, if it is one below the root of VIEW, or nil.
No link of a model's leads anywhere else."
  (unless (or (string-empty-p name) (string-match-p "\\`\\(?:[[:alpha:]][[:alnum:]+.-]+:\\|~\\)" name))
    (let* ((root (sidecar-agent-v-root view)) (path (expand-file-name name root)))
      (and (not (file-remote-p path)) (file-regular-p path) (file-in-directory-p path root) path))))

(defun sidecar-agent-visit ()
  "Visit the file at point, if it is one of the project."
  (interactive)
  (let* ((file (get-text-property (point) 'sidecar-agent-file))
         (word (save-excursion
                 (skip-chars-backward "^ \t\n")
                 (buffer-substring-no-properties (point) (progn (skip-chars-forward "^ \t\n") (point)))))
         (name (string-trim (if file (plist-get file :path) word) "[@`(<]+" "[]`)>,.;]+"))
         (line (and (string-match ":\\([0-9]+\\).*\\'" name) (prog1 (string-to-number (match-string 1 name)) (setq name (substring name 0 (match-beginning 0))))))
         (path (or (sidecar-agent--file sidecar-agent--view name) (user-error "No file of the project is named here"))))
    (find-file-other-window path)
    (when line (goto-char (point-min)) (forward-line (1- line)))))

(defun sidecar-agent--jump (step)
  "Go to the next message of the user's, STEP 1, or the one before, -1."
  (let ((here (point)) found)
    (while (and (not found) (= (forward-line step) 0) (not (and (> step 0) (eobp))))
      (let ((block (sidecar-agent--block-at (point))))
        (setq found (and block (eq (sidecar-agent-b-kind block) 'you) (eq (get-text-property (point) 'face) 'sidecar-agent-you)))))
    (unless found (goto-char here))))
(defun sidecar-agent-next () "Go to your next message." (interactive) (sidecar-agent--jump 1))
(defun sidecar-agent-previous () "Go to your previous message." (interactive) (sidecar-agent--jump -1))

(defun sidecar-agent--revert (&rest _) "Build the conversation anew." (sidecar-agent--rebuild sidecar-agent--view))

(define-derived-mode sidecar-agent-mode special-mode "Agent"
  "A conversation with an agent.  On a question, keys answer it:
\\{sidecar-agent-question-map}
Everywhere:
\\{sidecar-agent-mode-map}"
  (buffer-disable-undo)
  (setq-local revert-buffer-function #'sidecar-agent--revert)
  (add-to-invisibility-spec '(sidecar-agent . t))
  (visual-line-mode)
  (setq header-line-format
        '(:eval (replace-regexp-in-string "%" "%%" (sidecar-agent--head (sidecar-agent-v-model sidecar-agent--view) (sidecar-agent-v-mode sidecar-agent--view)
                                                                       (sidecar-agent-v-down sidecar-agent--view))))))
(pcase-dolist (`(,key . ,command)
               '(("i" . sidecar-agent-prompt) ("v" . sidecar-agent-review) ("o" . sidecar-agent-runs) ("RET" . sidecar-agent-visit) ("e" . sidecar-agent-edit-queued)
                 ("x" . sidecar-agent-withdraw) ("n" . sidecar-agent-next) ("p" . sidecar-agent-previous) ("TAB" . sidecar-agent-toggle) ("C-c C-k" . sidecar-agent-stop)))
  (define-key sidecar-agent-mode-map (kbd key) command))

(require 'sidecar-agent-prompt)
(provide 'sidecar-agent)
;;; sidecar-agent.el ends here
